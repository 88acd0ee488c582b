# The steps that recipes are made of; sourced, never run. Only this file calls fairseq.
#
# A run lives in runs/<config>/<system>/seed<k>/. A step that is done leaves a marker with a hash of
# its inputs in .done/, so a recipe that is run again goes on where it stopped.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
RUNS="${RUNS:-$ROOT/runs}"
VENV="${VENV:-$ROOT/.venv}"
CONFIG_KEYS="TEXT SYNTHETIC MULTIWAY RELEASE CORPUS CONDITION PAIRS LANGUAGES TOKENISATION MARK_TOKENS VOCABULARY SUBWORD_TYPE BALANCE THRESHOLD MODEL TRAINING AVERAGE BEAM LENGTH_PENALTY LENGTH_PENALTY_FORM TEST_LINES IDENTIFIER BLEU_TOKENIZER NORMALISE_REFERENCES"

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

read_config() { # FILE KEYS: sets its keys, and those that it does not set to nothing; refuses others
  [ -f "$1" ] || fail "there is no config '$1'; the ones that come with zsnmt are in $ROOT/configs"
  ! grep -q $'\r' "$1" || fail "$1 has Windows line ends; convert it with dos2unix"
  local key
  while read -r key; do
    [[ " $2 " == *" $key "* ]] || fail "$1 sets '$key', which is no key; the keys are: $2"
  done < <(grep -oE '^[[:space:]]*(export[[:space:]]+)?[A-Za-z_][A-Za-z_0-9]*=' "$1" | grep -oE '[A-Za-z_0-9]+=' | tr -d '=')
  for key in $2; do printf -v "$key" '%s' ''; done
  # shellcheck disable=SC1090
  source "$1"
}

load_config() { # FILE: of a translation experiment, with the defaults
  read_config "$1" "$CONFIG_KEYS"
  [ -n "$LANGUAGES" ] || fail "$1 does not set LANGUAGES, the language codes with the pivot first"
  [ "$(printf '%s\n' "${TEXT:+x}" "${SYNTHETIC:+x}" "${MULTIWAY:+x}" "${RELEASE:+x}" | grep -c x)" = 1 ] \
    || fail "$1 must say where text comes from by exactly one of TEXT, SYNTHETIC, MULTIWAY and RELEASE"
  [ -z "$RELEASE" ] || [ -n "$CORPUS" ] || fail "$1 sets RELEASE but not CORPUS, the name of the corpus released there"
  [ -z "$CORPUS" ] || [ -n "$RELEASE" ] || fail "$1 sets CORPUS, which belongs to RELEASE; leave it out, or say where the release is"
  [ -z "$CONDITION" ] || [ -n "$MULTIWAY" ] \
    || fail "$1 sets CONDITION, which belongs to MULTIWAY; write that of a release as CORPUS=\"... --condition $CONDITION\""
  [ "$SUBWORD_TYPE $BLEU_TOKENIZER" != "word subwords" ] \
    || fail "$1 sets BLEU_TOKENIZER=subwords, which a model of whole words does not have; choose another, or leave it out"
  for key in MARK_TOKENS NORMALISE_REFERENCES; do
    [[ "${!key}" =~ ^(yes)?$ ]] || fail "$1 sets $key=${!key}; write yes, or leave it out"
  done
  : "${VOCABULARY:=8000}" "${SUBWORD_TYPE:=bpe}" "${THRESHOLD:=0}" "${AVERAGE:=5}" "${BEAM:=4}"
  : "${IDENTIFIER:=py3langid}" "${BLEU_TOKENIZER:=13a}" "${CONDITION:=multiway}"
  for key in VOCABULARY AVERAGE BEAM TEST_LINES; do
    [[ "${!key:-1}" =~ ^[1-9][0-9]*$ ]] || fail "$1 sets $key=${!key}; it must be a whole number above 0"
  done
  [[ "${LENGTH_PENALTY:-1}" =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "$1 sets LENGTH_PENALTY=$LENGTH_PENALTY; it must be a number, 0 or above, like 0.6"
  [[ "$LENGTH_PENALTY_FORM" =~ ^(power|gnmt)?$ ]] \
    || fail "$1 sets LENGTH_PENALTY_FORM=$LENGTH_PENALTY_FORM; write power or gnmt, or leave it out"
  [[ "$THRESHOLD" =~ ^[0-9]+$ ]] || fail "$1 sets THRESHOLD=$THRESHOLD; it must be a whole number, 0 for none"
}

hash_of() { # files, folders (all files in them) and words
  local input
  for input in "$@"; do
    if [ -d "$input" ]; then
      (cd "$input" && find -L . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
    elif [ -f "$input" ]; then
      sha256sum < "$input"
    else
      printf '%s\n' "$input"
    fi
  done | sha256sum | cut -d' ' -f1
}

step() { # FOLDER NAME OUTPUT INPUT... -- COMMAND...: makes OUTPUT unless it was made before from the same inputs
  local folder="$1" name="$2" output="$3" inputs=() marker hash
  shift 3
  while [ "$1" != -- ]; do inputs+=("$1"); shift; done
  shift
  marker="$folder/.done/$name"
  hash="$(hash_of "${inputs[@]}" "$*")"
  if [ -e "$output" ] && [ -f "$marker" ] && [ "$(cat "$marker")" = "$hash" ]; then
    say "$name: done before"
    return
  fi
  say "$name"
  rm -f "$marker"
  "$@" || fail "$name failed (see above); nothing that was done is lost: run the same command again to go on"
  mkdir -p "$folder/.done"
  printf '%s' "$hash" > "$marker.part" && mv "$marker.part" "$marker"
}

prepare_data() { # EXPERIMENT CONFIG: text and binarised data of the loaded config; several runs share them
  local experiment="$1" config="$2" source
  mkdir -p "$experiment"
  (
    lock_experiment "$experiment" "$config"
    make_source "$experiment"
    # shellcheck disable=SC2086
    step "$experiment" text "$experiment/text" "$source" -- make_text "$experiment/text" check_overlap.py \
      "$source" --languages $LANGUAGES --remove-to "$experiment/text.new" ${PAIRS:+--pairs "$PAIRS"}
    # shellcheck disable=SC2086
    step "$experiment" data "$experiment/data" "$experiment/text" -- python "$ROOT/scripts/prepare.py" \
      "$experiment/text" "$experiment/data" --languages $LANGUAGES --vocabulary-size "$VOCABULARY" \
      --subword-type "$SUBWORD_TYPE" --threshold "$THRESHOLD" ${BALANCE:+--balance "$BALANCE"} \
      ${TOKENISATION:+--tokenisation "$TOKENISATION"} ${MARK_TOKENS:+--mark-tokens} > /dev/null
    keep_config "$experiment" "$config"
  ) 9> "$experiment/.lock"
}

lock_experiment() { # EXPERIMENT CONFIG: waits for its turn; refuses data that were made with another config
  flock -n 9 || { say "waiting for another process that makes the data of $1"; flock 9; }
  [ ! -f "$1/config.conf" ] || cmp -s "$2" "$1/config.conf" \
    || fail "$1 was made with another $(basename "$2"); give the config a new name, or remove the folder"
}

keep_config() { # EXPERIMENT CONFIG: beside the data that were made with it
  cp "$2" "$1/config.conf.part" && mv "$1/config.conf.part" "$1/config.conf"
}

make_source() { # EXPERIMENT: parallel text where the loaded config says it comes from; sets source to its folder
  local experiment="$1"
  source="$experiment/source"
  # shellcheck disable=SC2086
  if [ -n "$SYNTHETIC" ]; then
    step "$experiment" source "$source" -- make_text "$source" make_synthetic.py "$source.new" $SYNTHETIC
  elif [ -n "$MULTIWAY" ]; then
    [ -d "$MULTIWAY" ] || fail "MULTIWAY=$MULTIWAY is no folder; it must hold {train,valid,test}.xx for $LANGUAGES"
    step "$experiment" source "$source" "$MULTIWAY" -- make_text "$source" cut_multiway.py \
      "$MULTIWAY" "$source.new" --languages $LANGUAGES --condition "$CONDITION"
  elif [ -n "$RELEASE" ]; then
    [ -d "$RELEASE" ] || fail "RELEASE=$RELEASE is no folder; fetch it with: python scripts/fetch_corpus.py ${CORPUS%% *} --to $RELEASE"
    step "$experiment" source "$source" "$(listing_of "$RELEASE")" -- make_text "$source" import_corpus.py \
      ${CORPUS%% *} "$RELEASE" "$source.new" --languages $LANGUAGES $(options_of "$CORPUS")
  else
    source="$(cd "$TEXT" 2>/dev/null && pwd)" || fail "TEXT=$TEXT is no folder"
  fi
}

extend_data_of() { # EXPERIMENT CONFIG RUN MODE [UNKNOWN SHARE]: text and binarised data for a run and its new languages
  local experiment="$1" config="$2" base="$3" mode="$4" unknown="${5:-}" source original made_for
  original="$(text_of "$base")"
  made_for="$(hash_of "$base/pipeline")"
  mkdir -p "$experiment"
  (
    lock_experiment "$experiment" "$config"
    [ ! -f "$experiment/made_for" ] || [ "$(cat "$experiment/made_for")" = "$made_for" ] \
      || fail "$experiment was made for runs with another text pipeline than $base has; give the config a new name, or remove the folder"
    make_source "$experiment"
    [ -d "$original" ] || original=""
    # shellcheck disable=SC2086
    step "$experiment" text "$experiment/text" "$source" ${original:+"$original"} "$base/pipeline" -- \
      of_base make_text "$experiment/text" join_text.py "$source" "$experiment/text.new" --languages $LANGUAGES \
        ${PAIRS:+--pairs "$PAIRS"} $([ "$mode$original" != frozen ] || printf %s --without-original)
    # shellcheck disable=SC2086
    step "$experiment" data "$experiment/data" "$experiment/text" "$base/pipeline" -- of_base show python "$ROOT/scripts/extend_data.py" \
      "$experiment/text" "$experiment/data" --languages $LANGUAGES --vocabulary-size "$VOCABULARY" \
      --subword-type "$SUBWORD_TYPE" --threshold "$THRESHOLD" ${TOKENISATION:+--tokenisation "$TOKENISATION"} \
      ${unknown:+--allow-unknown "$unknown"}
    printf '%s' "$made_for" > "$experiment/made_for.part" && mv "$experiment/made_for.part" "$experiment/made_for"
    keep_config "$experiment" "$config"
  ) 9> "$experiment/.lock"
}

of_base() { "$@" --run "$base"; } # a step's inputs say what it needs of the base, whose name does not matter

show() { "$@" >&2; } # what a step prints is for the person

need_trained_run() { # RUN
  [ -f "$1/run.json" ] || fail "$1 is no run folder; give one made by recipes/train.sh"
  [ -f "$1/model.pt" ] || fail "$1 has no model.pt, which the end of its training writes; train it on with recipes/train.sh"
}

text_of() { # RUN: the folder of the text it was made from
  python -c 'import json, sys; print(json.load(open(sys.argv[1] + "/run.json"))["text"])' "$1"
}

make_text() { # FOLDER SCRIPT ARGUMENTS: what a script writes to FOLDER.new takes the place of what was there
  local folder="$1" script="$2"
  shift 2
  rm -rf "$folder.new" && python "$ROOT/scripts/$script" "$@" > /dev/null && rm -rf "$folder" && mv "$folder.new" "$folder"
}

listing_of() { # FOLDER: names, sizes and times of its files; a release is too large to read for a check
  (cd "$1" && find -L . -type f -printf '%p %s %T@\n' | LC_ALL=C sort)
}

options_of() { # "NAME OPTIONS": the options
  [ "${1#* }" = "$1" ] || printf '%s' "${1#* }"
}

train_run() { # CONFIG ARCHITECTURE SYSTEM SEED [FAIRSEQ OPTIONS]: one run, from text to averaged model
  local config="$1" architecture="$2" system="$3" seed="$4" experiment run recipe
  shift 4
  load_config "$config"
  experiment="$RUNS/$(basename "$config" .conf)"
  run="$experiment/$system/seed$seed"
  prepare_data "$experiment" "$config"
  recipe="bash recipes/train.sh configs/$(basename "$config") $architecture --seeds $seed"
  [ "$system" = "$architecture" ] || recipe+=" --name $system"
  [ $# = 0 ] || recipe+=" -- $*"
  mkdir -p "$run"
  (
    flock -n 8 || fail "another process is at work in $run; wait for it or end it"
    python "$ROOT/scripts/start_run.py" "$run" --config "$config" --data "$experiment/data" --system "$system" \
      --seed "$seed" --text "$experiment/text" --command "$recipe"
    # shellcheck disable=SC2086
    train_and_average "$experiment" "$run" "$system" "$seed" --arch "$architecture" $(device) --distributed-world-size 1 $MODEL $TRAINING "$@"
  ) 8> "$run/.lock"
}

adapt_run() { # CONFIG RUN NAME MODE UNKNOWN SEED COMMAND [OPTIONS OF extend_run.py] [-- FAIRSEQ OPTIONS]: a run with new languages
  local config="$1" base="$2" name="$3" mode="$4" unknown="$5" seed="$6" recipe="$7" experiment run extending=() options
  shift 7
  while [ $# -gt 0 ] && [ "$1" != -- ]; do extending+=("$1"); shift; done
  [ "${1:-}" != -- ] || shift
  load_config "$config"
  experiment="$RUNS/$(basename "$config" .conf)"
  run="$experiment/$name/seed$seed"
  extend_data_of "$experiment" "$config" "$base" "$mode" "$unknown"
  mkdir -p "$run"
  (
    flock -n 8 || fail "another process is at work in $run; wait for it or end it"
    python "$ROOT/scripts/start_run.py" "$run" --config "$config" --data "$experiment/data" --system "$name" \
      --seed "$seed" --text "$experiment/text" --command "$recipe" --adapted-from "$base" --mode "$mode"
    step "$run" extend "$run/initial.pt" "$base/model.pt" "$experiment/data" -- python "$ROOT/scripts/extend_run.py" "$base" \
      --data "$experiment/data" --output "$run/initial.pt" --mode "$mode" --seed "$seed" "${extending[@]}" > /dev/null
    mapfile -t options < "$run/initial.options"
    # shellcheck disable=SC2086
    train_and_average "$experiment" "$run" "$name" "$seed" "${options[@]}" --user-dir "$ROOT/zsnmt" $(device) \
      $MODEL $TRAINING "$@" --finetune-from-model "$run/initial.pt"
  ) 8> "$run/.lock"
}

train_and_average() { # EXPERIMENT RUN SYSTEM SEED OPTIONS: trains on the experiment's data, and averages the best checkpoints
  local experiment="$1" run="$2" system="$3" seed="$4"
  shift 4
  fairseq_train "$run" "$system, seed $seed" "$experiment/data" --task zs_translation "$@" \
    --seed "$seed" --save-dir "$run/checkpoints" --keep-best-checkpoints "$AVERAGE" --no-epoch-checkpoints \
    --best-checkpoint-metric nll_loss --log-format json --num-workers 0
  step "$run" average "$run/model.pt" "$run/.done/train" -- \
    python "$ROOT/scripts/average_checkpoints.py" "$run" --number "$AVERAGE" > /dev/null
}

fairseq_train() { # RUN TITLE DATA OPTIONS: trains once, with the command and the log in RUN
  local run="$1" title="$2" data="$3" command
  shift 3
  command=("$VENV/bin/fairseq-train" "$data" --user-dir "$ROOT/zsnmt" "$@")
  printf '%q ' "${command[@]}" > "$run/train.command.part" && mv "$run/train.command.part" "$run/train.command"
  step "$run" train "$run/checkpoints" "$data" "${command[*]}" -- train_with_progress "$run" "$title" "${command[@]}"
}

device() { # fairseq's option for a machine without GPU
  python -c 'import torch; raise SystemExit(torch.cuda.is_available())' && echo --cpu
}

train_with_progress() { # RUN TITLE COMMAND...: the whole log in RUN/train.log, a line an epoch on the terminal
  local run="$1" title="$2"
  shift 2
  "$@" 2>&1 | tee -a "$run/train.log" | python "$ROOT/scripts/training_progress.py" "$title"
}

evaluate_run() { # RUN [PIVOT RUN] [COMET: yes or nothing]: scores.json
  local run="$1" pivot="${2:-}" comet="${3:-}" before="$1/before" text
  [ -f "$run/config.conf" ] || fail "$run is no run folder; give one made by recipes/train.sh"
  [ -z "$pivot" ] || [ -f "$pivot/model.pt" ] || fail "$pivot, which is to translate through the pivot, is no trained run folder"
  [ -z "$pivot" ] || [ ! "$pivot" -ef "$run" ] || pivot=""
  load_config "$run/config.conf"
  text="$(text_of "$run")"
  [ -d "$text" ] || fail "$text, the test set of $run, is not there any more; score the run on a copy of it with:
    python scripts/evaluate.py $run --text FOLDER --output FILE.json"
  [ -d "$before" ] || before=""
  (
    flock -n 8 || fail "another process is at work in $run; wait for it or end it"
    step "$run" evaluate "$run/scores.json" "$run/model.pt" ${pivot:+"$pivot/model.pt"} "$text"/test.* "$text"/lexicon.* ${before:+"$before"} -- \
      python "$ROOT/scripts/evaluate.py" "$run" --identifier "$IDENTIFIER" --bleu-tokenizer "$BLEU_TOKENIZER" --beam "$BEAM" \
        ${LENGTH_PENALTY:+--length-penalty "$LENGTH_PENALTY"} ${LENGTH_PENALTY_FORM:+--length-penalty-form "$LENGTH_PENALTY_FORM"} \
        ${TEST_LINES:+--lines "$TEST_LINES"} ${NORMALISE_REFERENCES:+--normalise-references} \
        ${pivot:+--pivot-run "$pivot"} ${comet:+--comet}
  ) 8> "$run/.lock"
}

probe_run() { # RUN KEEP [OPTION VALUE]...: probes/, by options of recipes/probe.sh; KEEP the states: yes or nothing
  local run="$1" text
  shift
  need_trained_run "$run"
  text="$(text_of "$run")"
  [ -d "$text" ] || fail "$text, the text of $run, is not there any more; make states from a copy of it with:
    python scripts/probe_states.py $run STATES --text FOLDER"
  (
    flock -n 8 || fail "another process is at work in $run; wait for it or end it"
    step "$run" probe "$run/probes/record.json" "$run/model.pt" "$text" -- make_probes "$run" "$text" "$@"
  ) 8> "$run/.lock"
}

make_probes() { # RUN TEXT KEEP [OPTION VALUE]...: new probes take the place of RUN/probes when all of them are there
  local run="$1" text="$2" keep="$3" new="$1/probes.new" command
  shift 3
  command="bash recipes/probe.sh ${run#"$ROOT/"}$([ $# = 0 ] || printf ' %q' "$@")"
  local -A option=([split]=test [train-lines]=2000 [kind]=published [seed]=1)
  while [ $# -gt 0 ]; do option["${1#--}"]="$2"; shift 2; done
  local target=(${option[target]:+--target "${option[target]}"}) seed=(--seed "${option[seed]}")
  step "$new" states "$new/states" "$run/model.pt" "$text/${option[split]}".* -- make_text "$new/states" probe_states.py \
    "$run" "$new/states.new" --text "$text" --split "${option[split]}" ${option[lines]:+--lines "${option[lines]}"} "${target[@]}"
  step "$new" training_states "$new/training_states" "$run/model.pt" "$text"/train.* -- make_text "$new/training_states" probe_states.py \
    "$run" "$new/training_states.new" --text "$text" --split train --random-lines "${option[train-lines]}" "${seed[@]}" "${target[@]}"
  step "$new" similarity "$new/similarity.txt" "$new/.done/states" -- print_to "$new/similarity.txt" probe_similarity.py \
    "$new/states" "$new/similarity.tsv" "${seed[@]}" ${option[variance]:+--variance "${option[variance]}"}
  # shellcheck disable=SC2086
  step "$new" classifiers "$new/classifiers.txt" "$new/.done/states" "$new/.done/training_states" -- print_to "$new/classifiers.txt" \
    probe_classifiers.py "$new/training_states" "$new/classifiers.tsv" --held-out "$new/states" --kind "${option[kind]}" \
    "${seed[@]}" ${option[labels]:+--labels ${option[labels]}}
  python "$ROOT/scripts/probe_record.py" "$new" "$run" "$new/states" "$new/training_states" --split "${option[split]}" \
    --kind "${option[kind]}" ${option[variance]:+--variance "${option[variance]}"} "${seed[@]}" --command "$command" || return
  [ -n "$keep" ] || rm -rf "$new/states" "$new/training_states"
  rm -rf "$new/.done" "$run/probes" && mv "$new" "$run/probes"
}

print_to() { # FILE SCRIPT ARGUMENTS: what a script prints
  local file="$1" script="$2"
  shift 2
  python "$ROOT/scripts/$script" "$@" > "$file.part" && mv "$file.part" "$file"
}
