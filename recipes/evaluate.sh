#!/usr/bin/env bash
# Scores runs in every direction, zero-shot ones also through the pivot, and prints them side by side.
#
#   bash recipes/evaluate.sh RUN [RUN ...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

main() {
  [ $# -ge 1 ] || fail "usage: bash recipes/evaluate.sh RUN [RUN ...]"
  need_environment
  local run
  for run in "$@"; do evaluate_run "$run"; done
  python "$ROOT/scripts/table.py" "$@"
}

main "$@"
