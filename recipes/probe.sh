#!/usr/bin/env bash
# Probes the encoders of runs: what their states know of token, position and language, and how alike languages
# are in them: zsnmt probe.
#
#   bash recipes/probe.sh RUN [RUN ...] [--split test] [--lines N] [--languages "CODES"] [--train-lines 2000|all]
#                         [--kind published] [--labels "WORDS"] [--training-states stored|live] [--classifiers-only]
#                         [--variance 0.99] [--target CODE] [--seed 1] [--keep-states]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt probe "$@"
