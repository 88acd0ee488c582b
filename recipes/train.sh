#!/usr/bin/env bash
# Trains a system of an experiment, from text to averaged model: zsnmt train.
#
#   bash recipes/train.sh CONFIG ARCHITECTURE [--seeds 1 2 3] [--name NAME -- FAIRSEQ OPTIONS]
#   bash recipes/train.sh configs/multi30k.conf zs_transformer_residual
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt train "$@"
