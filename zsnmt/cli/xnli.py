"""Pre-train masked language models of several languages, fine-tune them on MultiNLI and test them on XNLI;
prints accuracy by position encoding and language (Ravishankar and Søgaard 2021, Figure 3). Run it again to go
on after a stop.

    zsnmt xnli configs/bert_xnli.conf
    zsnmt xnli configs/bert_nli_tiny.conf --seeds 0    # made-up languages, half an hour of a core
    CUDA_VISIBLE_DEVICES=1 zsnmt xnli configs/bert_xnli.conf

A run that another process is working on is skipped, so with several GPUs the command can be started on each
of them. A run that has its scores is skipped too; its checkpoints may be removed.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.recipe import Recipe, add_check, add_seeds


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt xnli", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the study")
    add_seeds(parser, None)
    add_check(parser)
    options = parser.parse_args(arguments)
    recipe = Recipe("xnli", options.check)

    from zsnmt.cli import xnli_table
    from zsnmt.masked_lm.config import read_xnli_config
    from zsnmt.masked_lm.nli_study import NliStudy, do_nli_study

    config = read_xnli_config(options.config, recipe.variables)
    if options.seeds:
        config = replace(config, seeds=tuple(options.seeds))
    study = NliStudy(config, options.config, recipe.runs / options.config.stem)
    do_nli_study(recipe.steps, study)
    xnli_table.main([str(study.folder), "--figures", str(study.folder / "report")])
