#!/usr/bin/env bash
# The study of position encodings in masked language models: trains a grid of conditions, systems and seeds, scores each run
# and draws the tables and figures. Run it again to go on after a stop.
#
#   bash recipes/compression.sh CONFIG [--jobs N] [--conditions "same fi"] [--systems "learned sinusoidal"] [--seeds 0 42 100]
#                                      [--dry-run] [--report FOLDER]
#   bash recipes/compression.sh configs/bert_fake_english.conf --jobs 2
#
# Conditions: same (English and its vocabulary-shifted copy), none (English alone), or a language of the config's TREEBANKS, in
# whose word order the copy is. Systems: sinusoidal learned none tupe_absolute tupe_relative relative_key relative_key_query,
# and ablations of learned: no_position_position no_position_word no_word_position separate_parameters. The config has a
# default for each. --jobs: runs at a time; --report: where tables and figures go (default: runs/CONFIG/report).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

USAGE="bash recipes/compression.sh CONFIG [--jobs N] [--conditions WORDS] [--systems WORDS] [--seeds K...] [--dry-run] [--report FOLDER]"
KEYS="TRAIN VALID SYNTHETIC TREEBANKS OWN_WEIGHT CONDITIONS SYSTEMS SEEDS VOCABULARY SHIFT_SPECIALS MOST_PIECES LAYERS MODEL TRAINING"

load_study() { # CONFIG: its keys and the defaults
  read_config "$1" "$KEYS"
  : "${CONDITIONS:=same}" "${SYSTEMS:=sinusoidal learned tupe_absolute tupe_relative relative_key relative_key_query}"
  : "${SEEDS:=0 42 100}" "${VOCABULARY:=2048}" "${MOST_PIECES:=0}" "${OWN_WEIGHT:=0.05}" "${LAYERS:=0 8}"
  if [ -n "$SYNTHETIC" ]; then
    [ -z "$TRAIN$VALID$TREEBANKS" ] || fail "$1 sets SYNTHETIC, which makes the text: leave out TRAIN, VALID and TREEBANKS"
  elif [ -z "$TRAIN" ] || [ -z "$VALID" ]; then
    fail "$1 must say where text comes from: TRAIN and VALID, or SYNTHETIC"
  fi
  [[ "$SHIFT_SPECIALS" =~ ^(yes)?$ ]] || fail "$1 sets SHIFT_SPECIALS=$SHIFT_SPECIALS; write yes, or leave it out"
  for key in VOCABULARY MOST_PIECES; do [[ "${!key}" =~ ^[0-9]+$ ]] || fail "$1 sets $key=${!key}; it must be a whole number"; done
  [[ "$LAYERS" =~ ^[0-9]+\ [0-9]+$ ]] || fail "$1 sets LAYERS='$LAYERS'; it must be two layers, like 0 8"
}

make_trees() { # EXPERIMENT: made-up treebanks where the config asks for them; sets TRAIN, VALID and TREEBANKS to them
  local experiment="$1" pivot languages language file
  if [ -z "$SYNTHETIC" ]; then
    for file in "$TRAIN" "$VALID"; do [ -f "$file" ] || fail "there is no file $file; the config's comment says what it should hold"; done
    return 0
  fi
  # shellcheck disable=SC2086
  step "$experiment" trees "$experiment/trees" "$SYNTHETIC" -- make_text "$experiment/trees" make_synthetic_trees.py \
    "$experiment/trees.new" $SYNTHETIC
  mapfile -t languages < "$experiment/trees/languages.txt"
  pivot="${languages[0]}"
  for language in "${languages[@]:1}"; do TREEBANKS+=" $language:$experiment/trees/train.$language.conllu"; done
  TRAIN="$experiment/trees/train.$pivot.conllu" VALID="$experiment/trees/valid.$pivot.conllu"
}

treebank_of() { # LANGUAGE: the files of its entry in TREEBANKS
  local entry
  for entry in $TREEBANKS; do
    [ "${entry%%:*}" != "$1" ] || { tr ',' ' ' <<< "${entry#*:}"; return; }
  done
  fail "there is no treebank of '$1', a condition; TREEBANKS must have an entry $1:FILE.conllu (or $1:FILE.conllu,FILE.conllu)"
}

learn_order() { # EXPERIMENT NAME TREES...: a permutation model
  local model="$1/orders/$2"
  step "$1" "order.$2" "$model@V.orm" "${@:3}" -- show python "$ROOT/scripts/galactic.py" train "${@:3}" --output "$model"
}

make_sentences() { # EXPERIMENT CONDITION: what data are made of; sets train, valid and fake
  local experiment="$1" condition="$2" text="$1/text/$2" split file
  train="$TRAIN" valid="$VALID" fake=(--fake)
  [ "$condition" != none ] || fake=()
  if [[ "$TRAIN" != *.conllu ]]; then
    [[ "$condition" =~ ^(same|none)$ ]] || fail "condition $condition needs trees: TRAIN and VALID must be CoNLL-U files, named *.conllu"
    return 0
  fi
  mkdir -p "$experiment/text" "$experiment/orders"
  if ! [[ "$condition" =~ ^(same|none)$ ]]; then
    learn_order "$experiment" own "$TRAIN"
    # shellcheck disable=SC2046
    learn_order "$experiment" "$condition" $(treebank_of "$condition")
    fake=(--fake "$text.train.reordered" "$text.valid.reordered")
  fi
  for split in train valid; do
    file="${!split}"
    if [[ "$condition" =~ ^(same|none)$ ]]; then
      step "$experiment" "text.$condition.$split" "$text.$split.source" "$file" -- \
        show python "$ROOT/scripts/galactic.py" text "$file" --output "$text.$split"
    else
      step "$experiment" "text.$condition.$split" "$text.$split.reordered" "$file" "$experiment/orders/own@V.orm" \
        "$experiment/orders/$condition@V.orm" -- show python "$ROOT/scripts/galactic.py" apply "$file" \
        --order "$experiment/orders/$condition" --own "$experiment/orders/own" --own-weight "$OWN_WEIGHT" --output "$text.$split"
    fi
  done
  train="$text.train.source" valid="$text.valid.source"
}

prepare_condition() { # EXPERIMENT CONDITION: its binarised data
  local experiment="$1" condition="$2" train valid fake
  make_sentences "$experiment" "$condition"
  mkdir -p "$experiment/data"
  step "$experiment" "data.$condition" "$experiment/data/$condition" "$train" "$valid" "${fake[@]:1}" -- \
    show python "$ROOT/scripts/prepare_bert.py" "$experiment/data/$condition" --train "$train" --valid "$valid" "${fake[@]}" \
    --vocabulary-size "$VOCABULARY" --most-pieces "$MOST_PIECES" ${SHIFT_SPECIALS:+--shift-specials}
}

train_and_score() { # CONFIG EXPERIMENT CONDITION SYSTEM SEED: one run of the grid
  local config="$1" experiment="$2" condition="$3" system="$4" seed="$5" run="$2/$3/$4/seed$5" data="$2/data/$3" subsets=valid options
  mkdir -p "$run"
  (
    flock -n 8 || fail "another process is at work in $run; wait for it or end it"
    options="$(python "$ROOT/scripts/compression_run.py" start "$run" --config "$config" --condition "$condition" \
      --system "$system" --seed "$seed" --command "bash recipes/compression.sh configs/$(basename "$config") \
--conditions $condition --systems $system --seeds $seed")"
    [ "$condition" = none ] || subsets=valid,valid.en
    # shellcheck disable=SC2086
    fairseq_train "$run" "$condition, $system, seed $seed" "$data" --task zs_masked_lm --arch zs_bert $(device) \
      --distributed-world-size 1 $MODEL $TRAINING $options --criterion masked_lm --seed "$seed" --save-dir "$run/checkpoints" \
      --valid-subset $subsets --no-epoch-checkpoints --log-format json --num-workers 0
    # shellcheck disable=SC2086
    step "$run" score "$run/compression.json" "$run/.done/train" "$data" -- \
      show python "$ROOT/scripts/compression_run.py" score "$run" --data "$data" --layers $LAYERS
  ) 8> "$run/.lock"
}

main() {
  local config="" jobs=1 dry="" report="" chosen=() experiment name condition system seed runs=() started=() failed=0
  while [ $# -gt 0 ]; do
    case "$1" in
      --dry-run) dry=yes; shift; continue ;;
      --seeds) name=SEEDS; shift; chosen+=("$name=")
        while [[ "${1:-}" =~ ^[0-9]+$ ]]; do chosen[-1]+="$1 "; shift; done
        [ "${chosen[-1]}" != "$name=" ] || fail "--seeds needs numbers"
        continue ;;
      --jobs | --report | --conditions | --systems) [ $# -ge 2 ] || fail "$1 needs a value" ;;
      -*) fail "unknown option '$1'; usage: $USAGE" ;;
      *) [ -z "$config" ] || fail "usage: $USAGE"; config="$1"; shift; continue ;;
    esac
    case "$1" in
      --jobs) [[ "$2" =~ ^[1-9][0-9]*$ ]] || fail "--jobs is '$2'; it must be a whole number above 0"; jobs="$2" ;;
      --report) report="$2" ;;
      --conditions) chosen+=("CONDITIONS=$2") ;;
      --systems) chosen+=("SYSTEMS=$2") ;;
    esac
    shift 2
  done
  [ -n "$config" ] || fail "usage: $USAGE"
  need_environment
  load_study "$config"
  for name in "${chosen[@]}"; do printf -v "${name%%=*}" '%s' "${name#*=}"; done
  # shellcheck disable=SC2086
  python "$ROOT/scripts/compression_run.py" check --systems $SYSTEMS
  experiment="$RUNS/$(basename "$config" .conf)"
  if [ -n "$dry" ]; then
    for condition in $CONDITIONS; do for system in $SYSTEMS; do for seed in $SEEDS; do
      [ -f "$experiment/$condition/$system/seed$seed/compression.json" ] && name=" (done before)" || name=""
      printf '%s\n' "$condition/$system/seed$seed$name"
    done; done; done
    return
  fi
  mkdir -p "$experiment"
  (
    lock_experiment "$experiment" "$config"
    make_trees "$experiment"
    for condition in $CONDITIONS; do prepare_condition "$experiment" "$condition"; done
    keep_config "$experiment" "$config"
  ) 9> "$experiment/.lock"
  trap 'trap - INT TERM; kill 0' INT TERM # trainings in the background would not hear of Ctrl-C
  for seed in $SEEDS; do for condition in $CONDITIONS; do for system in $SYSTEMS; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
    train_and_score "$config" "$experiment" "$condition" "$system" "$seed" &
    started+=($!)
    runs+=("$experiment/$condition/$system/seed$seed")
  done; done; done
  for name in "${started[@]}"; do wait "$name" || failed=1; done
  [ "$failed" = 0 ] || fail "some runs failed (see above); nothing that was done is lost: run the same command again to go on"
  python "$ROOT/scripts/compression_report.py" "${runs[@]}" --output "${report:-$experiment/report}"
}

main "$@"
