#!/usr/bin/env bash
# Trains a system of an experiment, from text to averaged model. Run it again to go on after a stop.
#
#   bash recipes/train.sh CONFIG ARCHITECTURE [--seeds 1 2 3] [--name NAME -- FAIRSEQ OPTIONS]
#   bash recipes/train.sh configs/multi30k.conf zs_transformer_residual
#   bash recipes/train.sh configs/multi30k.conf zs_transformer_residual --name residual_variational -- --variational-dropout
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

main() {
  [ $# -ge 2 ] || fail "usage: bash recipes/train.sh CONFIG ARCHITECTURE [--seeds K...] [--name NAME -- FAIRSEQ OPTIONS]"
  local config="$1" architecture="$2" name="" seeds=() seed
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case "$1" in
      --seeds) shift; while [[ "${1:-}" =~ ^[0-9]+$ ]]; do seeds+=("$1"); shift; done ;;
      --name) [ $# -ge 2 ] || fail "--name needs a name"; name="$2"; shift 2 ;;
      *) fail "unknown option '$1'; options of fairseq come after --" ;;
    esac
  done
  [ "${1:-}" != -- ] || shift
  [ $# = 0 ] || [ -n "$name" ] || fail "a variant with options of its own needs a --name for its run folder"
  need_environment
  for seed in "${seeds[@]:-1}"; do
    train_run "$config" "$architecture" "${name:-$architecture}" "$seed" "$@"
    say "next: bash recipes/evaluate.sh $RUNS/$(basename "$config" .conf)/${name:-$architecture}/seed$seed"
  done
}

main "$@"
