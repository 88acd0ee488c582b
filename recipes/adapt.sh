#!/usr/bin/env bash
# Teaches a trained run the languages of a config, or of text of one's own, that it lacks: zsnmt adapt.
#
#   bash recipes/adapt.sh CONFIG|TEXT RUN [--frozen [--adapter-dim D]] [--name NAME] [--seed K]
#     [--noise multiplicative|additive|none] [--noise-scale S] [--allow-unknown SHARE] [--share SHARE] [--without-synthetic] [-- FAIRSEQ OPTIONS]
#   bash recipes/adapt.sh configs/iwslt17_add_de.conf runs/iwslt17/zs_transformer_residual/seed1
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

zsnmt adapt "$@"
