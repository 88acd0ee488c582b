#!/usr/bin/env bash
# The first minutes: trains the baseline and the residual model side by side on artificial languages,
# then shows what each can do in directions that neither has seen. Run it again to go on after a stop.
#
#   bash recipes/demo.sh                      # configs/word_orders.conf
#   bash recipes/demo.sh configs/demo.conf    # or another config: here more words and longer sentences
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

CONFIG="${1:-$ROOT/configs/word_orders.conf}"
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

named() { # LANGUAGE: with its word order, which the text of artificial languages has beside it
  local order="$EXPERIMENT/text/word_order.$1"
  printf '%s' "$1"
  [ ! -f "$order" ] || printf ' (%s)' "$(< "$order")"
}

line_of() { # NUMBER FILE: a line of it, counted from 0
  local lines
  mapfile -t lines < "$2"
  printf '%s' "${lines[$1]}"
}

show_sentence() { # LINE SOURCE TARGET PIVOT: a test sentence, counted from 0, and what each system made of it
  local text="$EXPERIMENT/text/test" system
  printf '\n%-28s %s' "$(named "$2")" "$(line_of "$1" "$text.$2")"
  printf '\n%-28s %s' "$(named "$4"), the pivot" "$(line_of "$1" "$text.$4")"
  printf '\n%-28s %s\n' "$(named "$3"), as it should be" "$(line_of "$1" "$text.$3")"
  for system in "${SYSTEMS[@]}"; do
    printf '%-28s %s\n' "$system" "$(line_of "$1" "$EXPERIMENT/$system/seed1/hypotheses/direct.$2-$3.txt")"
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
  say "two test sentences in directions without training text, with the pivot's words for the same"
  show_sentence 0 "${languages[1]}" "${languages[n - 1]}" "${languages[0]}"
  show_sentence 1 "${languages[n - 1]}" "${languages[1]}" "${languages[0]}"
  printf '\n'
  local runs=("${SYSTEMS[@]/%//seed1}")
  python "$ROOT/scripts/table.py" --folder "$EXPERIMENT" "${runs[@]}"
  runs=("${runs[@]/#/$EXPERIMENT/}")
  python "$ROOT/scripts/report.py" "${runs[@]}" --output "$EXPERIMENT/report.html" > /dev/null
  say "the page to look at: $EXPERIMENT/report.html"
  say "to translate more: $VENV/bin/python scripts/translate.py ${runs[1]} --to ${languages[1]} < text"
}

main
