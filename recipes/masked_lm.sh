#!/usr/bin/env bash
# The study of position encodings in masked language models: trains a grid of conditions, systems and seeds, scores
# each run and draws the tables and figures: zsnmt masked-lm.
#
#   bash recipes/masked_lm.sh CONFIG [--jobs N] [--conditions "same fi"] [--systems "learned sinusoidal"] [--seeds 0 42 100]
#                                    [--dry-run] [--report FOLDER]
#   bash recipes/masked_lm.sh configs/bert_fake_english.conf --jobs 2
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt masked-lm "$@"
