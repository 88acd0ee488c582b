#!/usr/bin/env bash
# Trains and scores the systems of ablation studies and prints them side by side: zsnmt ablate.
#
#   bash recipes/ablate.sh CONFIG STUDY [STUDY ...] [--seeds 1 2 3] [--dry-run | --train-only] [--pivot RUN]
#     [--comet] [--report FILE] [--jobs N | --gpus N]
#   bash recipes/ablate.sh configs/demo.conf removal_layer
#
# Studies: query variational removal_layer positions replacement li_table_1 clip_distance encodings bias_layers
# distillation base_grid blocks_grid stage_two remedies_together decoding_grid (docs/method.md).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt ablate "$@"
