#!/usr/bin/env bash
# The first minutes: trains the baseline and the residual model side by side on artificial languages,
# then shows what each can do in directions that neither has seen. Run it again to go on after a stop.
#
#   bash recipes/demo.sh [CONFIG]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

CONFIG="${1:-$ROOT/configs/demo.conf}"
SYSTEMS=(zs_transformer zs_transformer_residual)
EXPERIMENT="$RUNS/$(basename "$CONFIG" .conf)"

side_by_side() { # FUNCTION: called with each system, all at once; never in a condition, which would switch off set -e
  local system jobs=() job status=0
  for system in "${SYSTEMS[@]}"; do
    "$1" "$system" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || status=1; done
  [ "$status" = 0 ] || fail "stopped (see above); run the same command again to go on"
}

train() { train_run "$CONFIG" "$1" "$1" 1; }
evaluate() { evaluate_run "$EXPERIMENT/$1/seed1" > /dev/null; }

show_translation() { # LINE SOURCE TARGET: a test sentence, counted from 0, translated now
  local sources references system
  mapfile -t sources < "$EXPERIMENT/text/test.$2"
  mapfile -t references < "$EXPERIMENT/text/test.$3"
  printf '\n%-26s %s\n%-26s %s\n' "$2" "${sources[$1]}" "$3, as it should be" "${references[$1]}"
  for system in "${SYSTEMS[@]}"; do
    printf '%-26s ' "$system"
    python "$ROOT/scripts/translate.py" "$EXPERIMENT/$system/seed1" --from "$2" --to "$3" <<< "${sources[$1]}"
  done
}

main() {
  need_environment
  trap 'trap - INT TERM; kill 0' INT TERM
  load_config "$CONFIG"
  local languages n
  read -ra languages <<< "$LANGUAGES"
  n="${#languages[@]}"
  prepare_data "$EXPERIMENT" "$CONFIG"
  say "training ${SYSTEMS[*]} side by side; the whole logs are in $EXPERIMENT/*/seed1/train.log"
  side_by_side train
  say "translating the test set in $((n * (n - 1))) directions, $(((n - 1) * (n - 2))) of them never seen in training"
  side_by_side evaluate
  say "two sentences in directions without training text"
  show_translation 0 "${languages[1]}" "${languages[2]}"
  show_translation 1 "${languages[n - 1]}" "${languages[1]}"
  printf '\n'
  local runs=("${SYSTEMS[@]/%//seed1}")
  python "$ROOT/scripts/table.py" --folder "$EXPERIMENT" "${runs[@]}"
  runs=("${runs[@]/#/$EXPERIMENT/}")
  python "$ROOT/scripts/report.py" "${runs[@]}" --output "$EXPERIMENT/report.html" > /dev/null
  say "the page to look at: $EXPERIMENT/report.html"
}

main
