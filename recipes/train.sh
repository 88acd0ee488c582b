#!/usr/bin/env bash
# Trains a system of an experiment, from text to averaged model: zsnmt train.
#
#   bash recipes/train.sh CONFIG ARCHITECTURE [--seeds 1 2 3] [--name NAME -- FAIRSEQ OPTIONS]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/run.sh" train "$@"
