# Finds the environment and calls `zsnmt VERB`; sourced by the recipes with their verb and their arguments.
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
# .venv is made when it is missing; an environment named by VENV is taken as it is.
[ -f "$VENV/.zsnmt-setup" ] || [ "$VENV" != "$ROOT/.venv" ] || bash "$ROOT/scripts/setup.sh"
[ -x "$VENV/bin/python" ] || { echo "error: VENV=$VENV is not a Python environment; make one with: bash scripts/setup.sh" >&2; exit 1; }
# What glibc and OpenMP read when Python starts: see zsnmt/training/children.py.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-4294967296}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-17179869184}"
export MALLOC_TOP_PAD_="${MALLOC_TOP_PAD_:-268435456}"
export PYTHONPATH="$ROOT${PYTHONPATH:+:$PYTHONPATH}"
exec "$VENV/bin/python" -m zsnmt "$@"
