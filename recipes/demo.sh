#!/usr/bin/env bash
# The first minutes: trains the baseline, the model without the residual and a student of the baseline on invented
# languages, then shows what each can do in directions that have no text: zsnmt demo.
#
#   bash recipes/demo.sh                        # configs/word_orders.conf
#   bash recipes/demo.sh configs/demo.conf      # or another config: here more words and longer sentences
#   bash recipes/demo.sh --real pt ru fi hu     # or real text: English and these languages, fetched from tatoeba.org
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt demo "$@"
