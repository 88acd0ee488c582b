#!/usr/bin/env bash
# Pre-trains masked language models of several languages, fine-tunes them on MultiNLI and tests them on XNLI; prints accuracy by
# position encoding and language (Ravishankar and Søgaard 2021, Figure 3). Run it again to go on after a stop.
#
#   bash recipes/xnli.sh CONFIG
#   CUDA_VISIBLE_DEVICES=1 bash recipes/xnli.sh configs/bert_xnli.conf
#
# A model that another process is at work on is passed over, so with several GPUs it can be started on each of them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

XNLI_KEYS="TEXT LANGUAGES MULTINLI XNLI VOCABULARY LONGEST SYSTEMS SEEDS MODEL DEVICE_BATCH PRETRAINING PRETRAINING_BATCH PRETRAINING_EPOCHS FINETUNING FINETUNING_BATCH FINETUNING_EPOCHS"
ENCODINGS="sinusoidal learned tupe_absolute tupe_relative relative_key relative_key_query"

load_xnli_config() { # FILE
  read_config "$1" "$XNLI_KEYS"
  local key word
  for key in $XNLI_KEYS; do
    [ -n "${!key}" ] || fail "$1 does not set $key; configs/bert_xnli.conf shows all keys"
  done
  for key in VOCABULARY LONGEST DEVICE_BATCH {PRETRAINING,FINETUNING}_{BATCH,EPOCHS}; do
    [[ "${!key}" =~ ^[1-9][0-9]*$ ]] || fail "$1 sets $key=${!key}; it must be a whole number above 0"
  done
  for key in PRETRAINING_BATCH FINETUNING_BATCH; do
    [ $((${!key} % DEVICE_BATCH)) = 0 ] || fail "$1 sets $key=${!key}; it must be a multiple of DEVICE_BATCH=$DEVICE_BATCH"
  done
  for word in $SYSTEMS; do
    [[ " $ENCODINGS " == *" $word "* ]] || fail "$1 names '$word' in SYSTEMS; choose from $ENCODINGS"
  done
  for word in $SEEDS; do
    [[ "$word" =~ ^[0-9]+$ ]] || fail "$1 names '$word' in SEEDS; seeds are whole numbers"
  done
  for key in TEXT MULTINLI XNLI; do
    [ -d "${!key}" ] || fail "$1 sets $key=${!key}, which is no folder; its comments say what belongs there"
  done
}

prepare_xnli() { # EXPERIMENT CONFIG: the data of pre-training and of fine-tuning, which all runs share
  local experiment="$1" config="$2" files=() language
  for language in $LANGUAGES; do files+=("$TEXT/train.$language" "$TEXT/valid.$language"); done
  mkdir -p "$experiment"
  (
    lock_experiment "$experiment" "$config"
    # shellcheck disable=SC2086
    step "$experiment" data "$experiment/data" "${files[@]}" -- show python "$ROOT/scripts/prepare_languages.py" \
      "$TEXT" "$experiment/data" --languages $LANGUAGES --vocabulary-size "$VOCABULARY"
    # shellcheck disable=SC2086
    step "$experiment" nli "$experiment/nli" "$experiment/data/dict.txt" "$(listing_of "$MULTINLI")" "$(listing_of "$XNLI")" -- \
      show python "$ROOT/scripts/prepare_xnli.py" "$experiment/data" "$experiment/nli" --multinli "$MULTINLI" --xnli "$XNLI" \
      --languages $LANGUAGES --longest "$LONGEST"
    keep_config "$experiment" "$config"
  ) 9> "$experiment/.lock"
}

xnli_run() { # EXPERIMENT CONFIG SYSTEM SEED: one model, from its first update to its scores
  local experiment="$1" config="$2" system="$3" seed="$4" run="$1/$3/seed$4"
  mkdir -p "$run"
  (
    flock -n 8 || { say "another process is at work in $run, which is passed over"; exit 0; }
    python "$ROOT/scripts/start_bert_run.py" "$run" --config "$config" --condition "${LANGUAGES// /+}" --system "$system" \
      --seed "$seed" --command "bash recipes/xnli.sh configs/$(basename "$config")"
    # shellcheck disable=SC2086
    train_stage "$run" pretraining "$experiment/data" "" \
      --task zs_masked_lm --criterion masked_lm --tokens-per-sample "$LONGEST" $PRETRAINING
    # shellcheck disable=SC2086
    train_stage "$run" finetuning "$experiment/nli" "$run/pretraining/checkpoints/checkpoint_last.pt" \
      --task sentence_prediction --criterion sentence_prediction --classification-head-name nli --num-classes 3 \
      --init-token 0 --separator-token 2 $FINETUNING
    step "$run" evaluate "$run/xnli.json" "$run/.done/finetuning" -- \
      show python "$ROOT/scripts/evaluate_nli.py" "$run" "$experiment/nli"
  ) 8> "$run/.lock"
}

train_stage() { # RUN STAGE DATA CHECKPOINT OPTIONS...: trains from a checkpoint, or from the start, until the rate is 0
  local run="$1" stage="$2" data="$3" from="$4" epochs="${2^^}_EPOCHS" batch="${2^^}_BATCH" inputs updates
  shift 4
  inputs="$(hash_of "$data" "$from")"
  [ ! -f "$run/$stage/inputs" ] || [ "$(cat "$run/$stage/inputs")" = "$inputs" ] \
    || fail "$run/$stage was trained from other data than are there now; remove it to train it anew, or bring them back"
  mkdir -p "$run/$stage"
  printf '%s' "$inputs" > "$run/$stage/inputs.part" && mv "$run/$stage/inputs.part" "$run/$stage/inputs"
  updates=$((($(lines_to_train "$data") + ${!batch} - 1) / ${!batch} * ${!epochs}))
  # shellcheck disable=SC2046,SC2086
  step "$run" "$stage" "$run/$stage/checkpoints/checkpoint_last.pt" "$inputs" -- \
    fairseq_train "$run/$stage" "$system, seed $seed, $stage" "$data" --save-dir "$run/$stage/checkpoints" \
    ${from:+--finetune-from-model "$from"} $MODEL --position-encoding "$system" --seed "$seed" $(device) --distributed-world-size 1 \
    --batch-size "$DEVICE_BATCH" --update-freq $((${!batch} / DEVICE_BATCH)) --required-batch-size-multiple 1 \
    --max-epoch "${!epochs}" --lr-scheduler polynomial_decay --total-num-update "$updates" \
    --no-epoch-checkpoints --log-format json --num-workers 0 "$@"
}

lines_to_train() { # DATA
  python -c 'import json, sys; counts = json.load(open(sys.argv[1])); print(sum(counts[name] for name in counts if name.startswith("train")))' \
    "$1/counts.json"
}

main() {
  [ $# = 1 ] || fail "usage: bash recipes/xnli.sh CONFIG"
  local config="$1" experiment system seed
  load_xnli_config "$config"
  need_environment
  experiment="$RUNS/$(basename "$config" .conf)"
  prepare_xnli "$experiment" "$config"
  for seed in $SEEDS; do
    for system in $SYSTEMS; do
      xnli_run "$experiment" "$config" "$system" "$seed"
    done
  done
  python "$ROOT/scripts/xnli_table.py" "$experiment"
}

main "$@"
