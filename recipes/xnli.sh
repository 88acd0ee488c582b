#!/usr/bin/env bash
# Pre-trains masked language models of several languages, fine-tunes them on MultiNLI and tests them on XNLI; prints accuracy by
# position encoding and language (Ravishankar and Søgaard 2021, Figure 3). Run it again to go on after a stop.
#
#   bash recipes/xnli.sh CONFIG
#   CUDA_VISIBLE_DEVICES=1 bash recipes/xnli.sh configs/bert_xnli.conf
#
# A run that another process is at work on is passed over, so with several GPUs this can be started on each of them. So is a
# run that is scored, whose checkpoints may be removed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

KEYS="TEXT MULTINLI XNLI LANGUAGES VOCABULARY LONGEST SYSTEMS SEEDS MODEL DEVICE_BATCH"
KEYS+=" PRETRAINING PRETRAINING_BATCH PRETRAINING_EPOCHS FINETUNING FINETUNING_BATCH FINETUNING_EPOCHS"

load_xnli() { # CONFIG: its keys, all of which must be there
  read_config "$1" "$KEYS"
  local key seed
  for key in $KEYS; do [ -n "${!key}" ] || fail "$1 does not set $key; configs/bert_xnli.conf shows every key"; done
  for key in VOCABULARY LONGEST DEVICE_BATCH {PRETRAINING,FINETUNING}_{BATCH,EPOCHS}; do
    [[ "${!key}" =~ ^[1-9][0-9]*$ ]] || fail "$1 sets $key=${!key}; it must be a whole number above 0"
  done
  for key in PRETRAINING_BATCH FINETUNING_BATCH; do
    [ $((${!key} % DEVICE_BATCH)) = 0 ] || fail "$1 sets $key=${!key}; it must be a multiple of DEVICE_BATCH=$DEVICE_BATCH"
  done
  for key in TEXT MULTINLI XNLI; do
    [ -d "${!key}" ] || fail "$1 sets $key=${!key}, which is no folder; configs/bert_xnli.conf says what belongs there"
  done
  for seed in $SEEDS; do [[ "$seed" =~ ^[0-9]+$ ]] || fail "$1 names the seed '$seed'; it must be a whole number"; done
}

prepare_xnli() { # EXPERIMENT CONFIG: data of pre-training and of fine-tuning, which all runs share
  local experiment="$1" config="$2" text=() language
  for language in $LANGUAGES; do text+=("$TEXT/train.$language" "$TEXT/valid.$language"); done
  mkdir -p "$experiment"
  (
    lock_experiment "$experiment" "$config"
    # shellcheck disable=SC2086
    step "$experiment" data "$experiment/data" "${text[@]}" -- show python "$ROOT/scripts/prepare_languages.py" \
      "$TEXT" "$experiment/data" --languages $LANGUAGES --vocabulary-size "$VOCABULARY"
    # shellcheck disable=SC2086
    step "$experiment" nli "$experiment/nli" "$experiment/.done/data" "$(listing_of "$MULTINLI")" "$(listing_of "$XNLI")" -- \
      show python "$ROOT/scripts/prepare_xnli.py" "$experiment/data" "$experiment/nli" \
      --multinli "$MULTINLI" --xnli "$XNLI" --languages $LANGUAGES --longest "$LONGEST"
    keep_config "$experiment" "$config"
  ) 9> "$experiment/.lock"
}

xnli_run() { # EXPERIMENT CONFIG SYSTEM SEED: one model, from its first update to its scores
  local experiment="$1" config="$2" run="$1/$3/seed$4" title="$3, seed $4" made_from options
  made_from="$(hash_of "$experiment/.done/data" "$experiment/.done/nli")"
  mkdir -p "$run"
  (
    flock -n 8 || { say "another process is at work in $run, which is passed over"; exit 0; }
    [ ! -f "$run/made_from" ] || [ "$(cat "$run/made_from")" = "$made_from" ] \
      || fail "$run was made from other text or releases than are there now; remove it to make it anew"
    [ ! -f "$run/xnli.json" ] || { say "$run: scored before"; exit 0; }
    options="$(python "$ROOT/scripts/compression_run.py" start "$run" --config "$config" --condition "${LANGUAGES// /+}" \
      --system "$3" --seed "$4" --command "bash recipes/xnli.sh configs/$(basename "$config")")"
    printf '%s' "$made_from" > "$run/made_from.part" && mv "$run/made_from.part" "$run/made_from"
    # shellcheck disable=SC2086
    train_stage pretraining "$experiment/data" $options --seed "$4" --task zs_masked_lm --criterion masked_lm \
      --tokens-per-sample "$LONGEST" $PRETRAINING
    # shellcheck disable=SC2086
    train_stage finetuning "$experiment/nli" $options --seed "$4" --task sentence_prediction --criterion sentence_prediction \
      --classification-head-name nli --num-classes 3 --init-token 0 --separator-token 2 \
      --finetune-from-model "$run/pretraining/checkpoints/checkpoint_last.pt" $FINETUNING
    show python "$ROOT/scripts/evaluate_nli.py" "$run" "$experiment/nli"
  ) 8> "$run/.lock"
}

train_stage() { # STAGE DATA OPTIONS: trains the run's model for the stage's epochs, while the rate falls to 0
  local stage="$1" data="$2" epochs="${1^^}_EPOCHS" batch="${1^^}_BATCH" lines
  shift 2
  lines="$(python -c 'import json, sys; print(sum(n for name, n in json.load(open(sys.argv[1])).items() if name.startswith("train")))' \
    "$data/counts.json")"
  mkdir -p "$run/$stage"
  # shellcheck disable=SC2046,SC2086
  fairseq_train "$run/$stage" "$title, $stage" "$data" $MODEL "$@" $(device) --distributed-world-size 1 \
    --batch-size "$DEVICE_BATCH" --update-freq $((${!batch} / DEVICE_BATCH)) --required-batch-size-multiple 1 \
    --max-epoch "${!epochs}" --lr-scheduler polynomial_decay --total-num-update $(((lines + ${!batch} - 1) / ${!batch} * ${!epochs})) \
    --save-dir "$run/$stage/checkpoints" --no-epoch-checkpoints --log-format json --num-workers 0
}

main() {
  [ $# = 1 ] || fail "usage: bash recipes/xnli.sh CONFIG"
  local config="$1" experiment system seed
  load_xnli "$config"
  need_environment
  # shellcheck disable=SC2086
  python "$ROOT/scripts/compression_run.py" check --systems $SYSTEMS
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
