#!/usr/bin/env bash
# Runs all tests; makes the environment first when there is none. Arguments go to pytest.
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
# An environment named by VENV is taken as it is.
[ "$VENV" != "$ROOT/.venv" ] || bash "$ROOT/scripts/setup.sh"
cd "$ROOT"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
exec "$VENV/bin/python" -m pytest -q "$@"
