#!/usr/bin/env bash
# Probes the encoders of runs: what its states know of token, position and language, and how alike languages are in them.
# Run it again to go on after a stop.
#
#   bash recipes/probe.sh RUN [RUN ...] [--split test] [--lines N] [--train-lines 2000] [--kind published] [--labels "WORDS"]
#                         [--variance 0.99] [--target CODE] [--seed 1] [--keep-states]
#   bash recipes/probe.sh runs/word_orders/*/seed1
#
# Figures are of the first N lines (default: all) of the split; classifiers are trained on at most --train-lines random
# lines of each language's training text, by the procedure of Liu et al. (2021) or, with --kind exact, to convergence, which
# is for few classes: --labels "language position". --variance: the share of it that SVCCA keeps; --target: the language
# asked for, where sources bear its tag. Tables go to RUN/probes; --keep-states leaves the states there too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

main() {
  local runs=() options=() keep="" run
  while [ $# -gt 0 ]; do
    case "$1" in
      --keep-states) keep=yes; shift; continue ;;
      --split | --lines | --train-lines | --kind | --labels | --variance | --target | --seed) [ $# -ge 2 ] || fail "$1 needs a value" ;;
      -*) fail "unknown option '$1'; the head of recipes/probe.sh lists them" ;;
      *) runs+=("$1"); shift; continue ;;
    esac
    case "$1" in
      --lines | --train-lines | --seed) [[ "$2" =~ ^[1-9][0-9]*$ ]] || fail "$1 is '$2'; it must be a whole number above 0" ;;
      --kind) [[ "$2" =~ ^(published|exact)$ ]] || fail "$1 is '$2'; it must be published or exact" ;;
    esac
    options+=("$1" "$2")
    shift 2
  done
  [ ${#runs[@]} -ge 1 ] || fail "usage: bash recipes/probe.sh RUN [RUN ...] [OPTIONS]; the head of recipes/probe.sh lists them"
  need_environment
  for run in "${runs[@]}"; do
    probe_run "$run" "$keep" "${options[@]}"
    printf '\n%s\n\n' "$run"
    cat "$run/probes/similarity.txt" <(echo) "$run/probes/classifiers.txt"
  done
  say "next, for figures of probes and scores: python scripts/report.py ${runs[*]} --output report.html"
}

main "$@"
