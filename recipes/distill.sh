#!/usr/bin/env bash
# Trains a student on the translations of a trained run, in directions without text by people: zsnmt distill.
#
#   bash recipes/distill.sh CONFIG TEACHER_RUN [--sides both|between|all|targets|sources|none|self] [--lines N] [--share SHARE]
#     [--student ARCHITECTURE] [--start-from RUN | --from-scratch] [--rounds N] [--name NAME] [--seed K] [-- FAIRSEQ OPTIONS]
#   bash recipes/distill.sh configs/multi30k.conf runs/multi30k/zs_transformer/seed1
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt distill "$@"
