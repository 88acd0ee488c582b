#!/usr/bin/env bash
# Scores runs in every direction, zero-shot ones also through the pivot, and prints them side by side: zsnmt evaluate.
#
#   bash recipes/evaluate.sh RUN [RUN ...] [--pivot RUN] [--comet] [--report FILE]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt evaluate "$@"
