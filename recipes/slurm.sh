#!/usr/bin/env bash
# Trains and scores the systems of a config on a cluster with SLURM, by an array of jobs, one for each system and seed:
# zsnmt slurm. Prints the script for sbatch; with --submit, gives it to sbatch.
#
#   bash recipes/slurm.sh CONFIG ARCHITECTURE [ARCHITECTURE ...] [--seeds 1 2 3] [--nodes N] [--gpus N | --processes N]
#     [--hours H] [--submit] [--sbatch OPTION ...] [--name NAME -- OPTIONS OF FAIRSEQ-TRAIN]
#   bash recipes/slurm.sh CONFIG --studies STUDY [STUDY ...] [the same, but for a name and options]
#   bash recipes/slurm.sh configs/iwslt17.conf zs_transformer zs_transformer_residual --seeds 1 2 3 --gpus 4 --submit
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt slurm "$@"
