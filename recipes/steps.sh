# What recipes have in common; sourced, never run. It finds the environment, or makes it, and calls `zsnmt VERB`.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"

# On a CPU: one thread per process, since threads that wait for each other cost more than they give.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# glibc would hand large tensors back to the system after each use and fault them in again at the next.
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-4294967296}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-17179869184}"
export MALLOC_TOP_PAD_="${MALLOC_TOP_PAD_:-268435456}"
export PYTHONWARNINGS="${PYTHONWARNINGS:-ignore}"
export PYTHONPATH="$ROOT${PYTHONPATH:+:$PYTHONPATH}"

python() { "$VENV/bin/python" "$@"; }

zsnmt() { # VERB ARGUMENTS: becomes the command; makes .venv when it is missing, and takes one named by VENV as it is
  [ -f "$VENV/.zsnmt-setup" ] || [ "$VENV" != "$ROOT/.venv" ] || bash "$ROOT/scripts/setup.sh"
  [ -x "$VENV/bin/python" ] || { echo "error: VENV=$VENV is not a Python environment; make one with: bash scripts/setup.sh" >&2; exit 1; }
  exec "$VENV/bin/python" -m zsnmt "$@"
}
