#!/usr/bin/env bash
# Pre-trains masked language models of several languages, fine-tunes them on MultiNLI and tests them on XNLI; prints accuracy by
# position encoding and language (Ravishankar and Søgaard 2021, Figure 3): zsnmt xnli.
#
#   bash recipes/xnli.sh CONFIG
#   CUDA_VISIBLE_DEVICES=1 bash recipes/xnli.sh configs/bert_xnli.conf
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt xnli "$@"
