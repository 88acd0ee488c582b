#!/usr/bin/env bash
# Teaches a trained run the languages of a config that it lacks. Run it again to go on after a stop.
#
#   bash recipes/adapt.sh CONFIG RUN [--frozen [--adapter-dim D]] [--name NAME] [--seed K]
#     [--noise multiplicative|additive|none] [--noise-scale S] [--allow-unknown SHARE] [-- FAIRSEQ OPTIONS]
#   bash recipes/adapt.sh configs/iwslt17_add_de.conf runs/iwslt17/zs_transformer_residual/seed1
#
# The config's text has the pivot first and the new languages; TRAINING says what differs from the training of RUN.
# Everything is trained, on the text of RUN as well; with --frozen only what is new is (rows, and adapters of D dimensions
# in the decoder), on the new text alone, and no old translation changes. The adapted run is a run folder like any other.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

main() {
  local config="${1:-}" base="${2:-}" mode=full name="" seed="" unknown="" extending=() recipe run
  [ $# -ge 2 ] || fail "usage: bash recipes/adapt.sh CONFIG RUN [--frozen] [--name NAME] [--seed K] ... [-- FAIRSEQ OPTIONS]"
  recipe="bash recipes/adapt.sh configs/$(basename "$config") ${base%/}${3:+ ${*:3}}"
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case "$1" in
      --frozen) mode=frozen; shift; continue ;;
      --name | --seed | --allow-unknown | --adapter-dim | --noise | --noise-scale) [ $# -ge 2 ] || fail "$1 needs a value" ;;&
      --name | --seed) printf -v "${1#--}" '%s' "$2" ;;
      --allow-unknown) unknown="$2" ;;
      --adapter-dim | --noise | --noise-scale) extending+=("$1" "$2") ;;
      *) fail "unknown option '$1'; options of fairseq come after --" ;;
    esac
    shift 2
  done
  need_environment
  need_trained_run "$base"
  base="$(cd "$base" && pwd)"
  : "${seed:=$(basename "$base" | tr -dc 0-9)}" "${name:=$(basename "$(dirname "$base")")$([ "$mode" = full ] || echo _frozen)}"
  [[ "$seed" =~ ^[0-9]+$ ]] || fail "--seed is '$seed'; it must be a whole number"
  run="$RUNS/$(basename "$config" .conf)/$name/seed$seed"
  [ ! "$base" -ef "$run" ] || fail "the adapted run would take the place of $base; give it another --name"
  [ -f "$base/scores.json" ] || [ ! -d "$(text_of "$base")" ] || evaluate_run "$base"
  adapt_run "$config" "$base" "$name" "$mode" "$unknown" "$seed" "$recipe" "${extending[@]}" "$@"
  say "next: bash recipes/evaluate.sh $run"
}

main "$@"
