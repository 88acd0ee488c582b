#!/usr/bin/env bash
# The former name of recipes/masked_lm.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt masked-lm "$@"
