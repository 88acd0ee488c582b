#!/usr/bin/env bash
# Trains and scores the systems of ablation studies and prints them side by side. Run it again to go on after a stop.
#
#   bash recipes/ablate.sh CONFIG STUDY [STUDY ...] [--seeds 1 2 3] [--dry-run] [--pivot RUN] [--comet] [--report FILE]
#   bash recipes/ablate.sh configs/word_orders.conf removal_layer
#
# Studies (docs/method.md): removal_layer removes the residual at each encoder layer in turn, positions learns the
# position encodings, replacement puts the sentence's mean, or the residual at random, in the residual's place,
# clip_distance varies that of relative attention, encodings what tells the encoder its positions, bias_layers
# where it does.
# --dry-run: only print what would be trained; --pivot, --comet and --report are those of recipes/evaluate.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

USAGE="bash recipes/ablate.sh CONFIG STUDY [STUDY ...] [--seeds K...] [--dry-run] [--pivot RUN] [--comet] [--report FILE]"

show_run() { # CONFIG ARCHITECTURE SYSTEM SEED [FAIRSEQ OPTIONS]: what train_run would train
  local run="$3/seed$4" before=""
  [ ! -f "$RUNS/$(basename "$1" .conf)/$run/model.pt" ] || before=" (trained before)"
  printf '%-32s %s%s\n' "$run" "$2${5:+ ${*:5}}" "$before"
}

main() {
  local words=() seeds=() scoring=() each_run=train_run runs=() config listed systems system seed name architecture options
  while [ $# -gt 0 ]; do
    case "$1" in
      --seeds) shift; while [[ "${1:-}" =~ ^[0-9]+$ ]]; do seeds+=("$1"); shift; done
        [ ${#seeds[@]} -ge 1 ] || fail "--seeds needs numbers" ;;
      --dry-run) each_run=show_run; shift ;;
      --comet) scoring+=("$1"); shift ;;
      --pivot | --report) [ $# -ge 2 ] || fail "$1 needs a value"; scoring+=("$1" "$2"); shift 2 ;;
      -*) fail "unknown option '$1'; usage: $USAGE" ;;
      *) words+=("$1"); shift ;;
    esac
  done
  [ ${#words[@]} -ge 2 ] || fail "usage: $USAGE"
  config="${words[0]}"
  load_config "$config"
  need_environment
  listed="$(python "$ROOT/scripts/ablations.py" "${words[@]:1}" --config-options="$MODEL $TRAINING")"
  mapfile -t systems <<< "$listed"
  for seed in "${seeds[@]:-1}"; do
    for system in "${systems[@]}"; do
      IFS=$'\t' read -r name architecture options <<< "$system"
      # shellcheck disable=SC2086
      "$each_run" "$config" "$architecture" "$name" "$seed" $options
      runs+=("$RUNS/$(basename "$config" .conf)/$name/seed$seed")
    done
  done
  [ "$each_run" = show_run ] || bash "$ROOT/recipes/evaluate.sh" "${runs[@]}" "${scoring[@]}"
}

main "$@"
