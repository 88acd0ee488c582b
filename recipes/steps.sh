# The steps that recipes are made of; sourced, never run. Only this file calls fairseq.
#
# A run lives in runs/<config>/<system>/seed<k>/. A step that is done leaves a marker with a hash of
# its inputs in .done/, so a recipe that is run again goes on where it stopped.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
RUNS="${RUNS:-$ROOT/runs}"
VENV="${VENV:-$ROOT/.venv}"
CONFIG_KEYS="TEXT SYNTHETIC MULTIWAY CONDITION LANGUAGES VOCABULARY SUBWORD_TYPE BALANCE THRESHOLD MODEL TRAINING AVERAGE BEAM IDENTIFIER BLEU_TOKENIZER"

# On a CPU: one thread a process, since threads that wait for each other cost more than they give.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# glibc would hand large tensors back to the system after each use and fault them in again at the next.
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-4294967296}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-17179869184}"
export MALLOC_TOP_PAD_="${MALLOC_TOP_PAD_:-268435456}"
export PYTHONWARNINGS="${PYTHONWARNINGS:-ignore}"

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
fail() { say "$*"; exit 1; }

python() { "$VENV/bin/python" "$@"; }

need_environment() { # makes .venv when it is missing; an environment named by VENV is taken as it is
  [ -f "$VENV/.zsnmt-setup" ] || [ "$VENV" != "$ROOT/.venv" ] || bash "$ROOT/scripts/setup.sh"
}

load_config() { # FILE: sets its keys and the defaults; refuses keys that do not exist
  [ -f "$1" ] || fail "there is no config '$1'; the ones that come with zsnmt are in $ROOT/configs"
  local key
  while read -r key; do
    [[ " $CONFIG_KEYS " == *" $key "* ]] || fail "$1 sets '$key', which is no key; the keys are: $CONFIG_KEYS"
  done < <(grep -oE '^[A-Za-z_][A-Za-z_0-9]*=' "$1" | tr -d '=')
  for key in $CONFIG_KEYS; do printf -v "$key" '%s' ''; done
  # shellcheck disable=SC1090
  source "$1"
  [ -n "$LANGUAGES" ] || fail "$1 does not set LANGUAGES, the language codes with the pivot first"
  [ "$(printf '%s\n' "${TEXT:+x}" "${SYNTHETIC:+x}" "${MULTIWAY:+x}" | grep -c x)" = 1 ] \
    || fail "$1 must say where text comes from by exactly one of TEXT, SYNTHETIC and MULTIWAY"
  : "${VOCABULARY:=8000}" "${SUBWORD_TYPE:=bpe}" "${THRESHOLD:=0}" "${AVERAGE:=5}" "${BEAM:=4}"
  : "${IDENTIFIER:=py3langid}" "${BLEU_TOKENIZER:=13a}" "${CONDITION:=multiway}"
}

hash_of() { # files, folders (all files in them) and words
  local input
  for input in "$@"; do
    if [ -d "$input" ]; then
      (cd "$input" && find . -type f -not -path './.done/*' -print0 | sort -z | xargs -0 sha256sum)
    elif [ -f "$input" ]; then
      sha256sum < "$input"
    else
      printf '%s\n' "$input"
    fi
  done | sha256sum | cut -d' ' -f1
}

step() { # FOLDER NAME INPUT... -- COMMAND...: runs COMMAND unless it ended before with the same inputs
  local folder="$1" name="$2" inputs=() marker hash
  shift 2
  while [ "$1" != -- ]; do inputs+=("$1"); shift; done
  shift
  marker="$folder/.done/$name"
  hash="$(hash_of "${inputs[@]}" "$*")"
  if [ -f "$marker" ] && [ "$(cat "$marker")" = "$hash" ]; then
    say "$name: done before"
    return
  fi
  say "$name"
  "$@" || fail "$name failed (see above); nothing that was done is lost: run the same command again to go on"
  mkdir -p "$folder/.done"
  printf '%s' "$hash" > "$marker.part" && mv "$marker.part" "$marker"
}

text_folder() { # EXPERIMENT: the parallel text of the loaded config
  if [ -n "$TEXT" ]; then (cd "$TEXT" 2>/dev/null && pwd) || fail "TEXT=$TEXT is no folder"; else echo "$1/text"; fi
}

prepare_data() { # EXPERIMENT: text and binarised data of the loaded config; several runs share them
  local experiment="$1" text
  mkdir -p "$experiment"
  (
    flock 9 # a run beside this one waits here
    if [ -n "$SYNTHETIC" ]; then
      # shellcheck disable=SC2086
      step "$experiment" text -- make_synthetic_text "$experiment/text" $SYNTHETIC
    elif [ -n "$MULTIWAY" ]; then
      [ -d "$MULTIWAY" ] || fail "MULTIWAY=$MULTIWAY is no folder; it must hold {train,valid,test}.xx for $LANGUAGES"
      step "$experiment" text "$MULTIWAY" "$LANGUAGES $CONDITION" -- cut_multiway_text "$experiment/text"
    fi
    text="$(text_folder "$experiment")"
    step "$experiment" data "$text" "$LANGUAGES $VOCABULARY $SUBWORD_TYPE $THRESHOLD $BALANCE" -- prepare_text "$experiment" "$text"
  ) 9> "$experiment/.lock"
}

cut_multiway_text() { # FOLDER: replaces text that was cut otherwise
  rm -rf "$1"
  # shellcheck disable=SC2086
  python "$ROOT/scripts/cut_multiway.py" "$MULTIWAY" "$1" --languages $LANGUAGES --condition "$CONDITION" > /dev/null
}

prepare_text() { # EXPERIMENT TEXT: binarised data, and the number of sentence pairs of each set
  # shellcheck disable=SC2086
  python "$ROOT/scripts/prepare.py" "$2" "$1/data" --languages $LANGUAGES --vocabulary-size "$VOCABULARY" \
    --subword-type "$SUBWORD_TYPE" --threshold "$THRESHOLD" ${BALANCE:+--balance "$BALANCE"} > "$1/pairs.tsv"
}

make_synthetic_text() { # FOLDER OPTIONS: replaces text that was made with other options
  rm -rf "$1"
  python "$ROOT/scripts/make_synthetic.py" "$@" > /dev/null
}

train_run() { # CONFIG ARCHITECTURE SYSTEM SEED [FAIRSEQ OPTIONS]: one run, from text to averaged model
  local config="$1" architecture="$2" system="$3" seed="$4" experiment run command device=()
  shift 4
  load_config "$config"
  experiment="$RUNS/$(basename "$config" .conf)"
  run="$experiment/$system/seed$seed"
  prepare_data "$experiment"
  python -c 'import torch; raise SystemExit(not torch.cuda.is_available())' || device=(--cpu)
  # shellcheck disable=SC2206
  command=("$VENV/bin/fairseq-train" "$experiment/data" --user-dir "$ROOT/zsnmt" --task zs_translation
    --arch "$architecture" "${device[@]}" $MODEL $TRAINING "$@"
    --seed "$seed" --save-dir "$run/checkpoints" --keep-best-checkpoints "$AVERAGE" --no-epoch-checkpoints
    --best-checkpoint-metric nll_loss --log-format json --num-workers 0)
  python "$ROOT/scripts/start_run.py" "$run" --config "$config" --data "$experiment/data" --system "$system" \
    --seed "$seed" --text "$(text_folder "$experiment")" \
    --command "bash recipes/train.sh configs/$(basename "$config") $architecture --seeds $seed${*:+ --name $system -- $*}"
  printf '%q ' "${command[@]}" > "$run/train.command"
  (
    flock -n 8 || fail "another process is training in $run; wait for it or end it"
    step "$run" train "$experiment/data" "${command[*]}" -- train_with_progress "$run" "$system, seed $seed" "${command[@]}"
    step "$run" average "$run/.done/train" "$AVERAGE" -- python "$ROOT/scripts/average_checkpoints.py" "$run" --number "$AVERAGE" > /dev/null
  ) 8> "$run/.lock"
}

train_with_progress() { # RUN TITLE COMMAND...: the whole log in RUN/train.log, a line an epoch on the terminal
  local run="$1" title="$2"
  shift 2
  "$@" 2>&1 | tee -a "$run/train.log" | python "$ROOT/scripts/training_progress.py" "$title"
}

evaluate_run() { # RUN: scores.json
  [ -f "$1/config.conf" ] || fail "$1 is no run folder; give one made by recipes/train.sh"
  load_config "$1/config.conf"
  step "$1" evaluate "$1/model.pt" -- python "$ROOT/scripts/evaluate.py" "$1" \
    --identifier "$IDENTIFIER" --bleu-tokenizer "$BLEU_TOKENIZER" --beam "$BEAM"
}
