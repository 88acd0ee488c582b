#!/usr/bin/env bash
# Runs all tests, a process for each core (JOBS=... chooses another number); makes the environment first when there
# is none. Arguments go to pytest.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
# An environment named by VENV is taken as it is.
[ "$VENV" != "$ROOT/.venv" ] || bash "$ROOT/scripts/setup.sh"
cd "$ROOT"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# A file stays in one process: its tests share what they train.
exec "$VENV/bin/python" -m pytest -q --numprocesses "${JOBS:-auto}" --dist loadfile "$@"
