#!/usr/bin/env bash
# Trains a model that translates directly between all languages, by four trainings, and compares it: zsnmt direct.
#
#   bash recipes/direct.sh CONFIG_OR_TEXT [--seeds 1 2 3] [--precision int8] [--processes N] [--plan]
#   bash recipes/direct.sh configs/tatoeba_three.conf --precision int8 --processes 2
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt direct "$@"
