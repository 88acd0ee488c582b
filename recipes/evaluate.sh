#!/usr/bin/env bash
# Scores runs in every direction, zero-shot ones also through the pivot, and prints them side by side.
#
#   bash recipes/evaluate.sh RUN [RUN ...] [--pivot RUN] [--comet] [--report FILE]
#
# --pivot: the run that translates through the pivot for all of them, as the baseline does in the paper (default: each
# itself); --comet: also score with COMET, if it is installed; --report: also make the page to look at.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

main() {
  local runs=() pivot="" comet="" report="" run
  while [ $# -gt 0 ]; do
    case "$1" in
      --pivot | --report) [ $# -ge 2 ] || fail "$1 needs a value"; printf -v "${1#--}" '%s' "$2"; shift 2 ;;
      --comet) comet=yes; shift ;;
      -*) fail "unknown option '$1'; there are --pivot RUN, --comet and --report FILE" ;;
      *) runs+=("$1"); shift ;;
    esac
  done
  [ ${#runs[@]} -ge 1 ] || fail "usage: bash recipes/evaluate.sh RUN [RUN ...] [--pivot RUN] [--comet] [--report FILE]"
  need_environment
  for run in "${runs[@]}"; do evaluate_run "$run" "$pivot" "$comet"; done
  python "$ROOT/scripts/table.py" "${runs[@]}"
  [ -z "$report" ] || python "$ROOT/scripts/report.py" "${runs[@]}" --output "$report" > /dev/null
}

main "$@"
