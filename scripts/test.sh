#!/usr/bin/env bash
# Runs all tests, a process for each core (JOBS=... chooses another number); makes the environment first when there
# is none. With --quick only those that are not slow, and of each of these three cases. Other arguments go to pytest.
#
#   bash scripts/test.sh [--quick] [ARGUMENTS OF PYTEST]
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
# An environment named by VENV is taken as it is.
[ "$VENV" != "$ROOT/.venv" ] || bash "$ROOT/scripts/setup.sh"
cd "$ROOT"
unset PYTHONDONTWRITEBYTECODE  # the tests start many processes, which need not compile everything again
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# A file stays in one process: its tests share what they make. Files with slow tests come first (tests/conftest.py).
exec "$VENV/bin/python" -m pytest -q --disable-warnings --numprocesses "${JOBS:-auto}" --dist loadfile --no-loadscope-reorder "$@"
