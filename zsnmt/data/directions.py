"""The directions that options name, and those that a folder has text for."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.languages import Direction, check_known, parse_direction

ALL, FROM_PIVOT = "all", "from_pivot"  # words for directions: those with text, those out of the pivot


def directions_of(pairs: str | Sequence[str] | None, languages: Sequence[str]) -> list[str]:
    """The directions of a comma-separated option (or of the list a checkpoint made of it), checked and each
    once; those out of the pivot, the first language, for the word `from_pivot`.
    """
    if not pairs:
        return []
    if pairs == FROM_PIVOT:
        return [f"{languages[0]}-{language}" for language in languages[1:]]
    directions = [parse_direction(pair) for pair in (pairs.split(",") if isinstance(pairs, str) else pairs)]
    for language in dict.fromkeys(language for direction in directions for language in direction):
        check_known(language, languages)
    return [*dict.fromkeys(map(str, directions))]


def directions_with_data(folder: Path, split: str, languages: Sequence[str]) -> list[str]:
    """Both directions of every pair with binarised text of a split in the folder, in the languages' order;
    `InputError` where there is none.
    """
    found = {path.name.split(".")[1] for path in folder.glob(f"{split}.*-*.*.idx")}
    pairs = [f"{a}-{b}" for a in languages for b in languages if {f"{a}-{b}", f"{b}-{a}"} & found]
    if not pairs:
        raise InputError(
            f"{folder} holds no binarised '{split}' text ({split}.xx-yy.xx.idx); make it with zsnmt prepare"
        )
    return pairs


def choose_directions(args: Namespace, folder: Path, languages: Sequence[str]) -> None:
    """Put the directions that a folder's text is to be trained and validated on into --lang-pairs and
    --valid-lang-pairs; `InputError` where --early-stopping-on-zero-shot has no others than those of training.
    """
    args.lang_pairs = directions_of(args.lang_pairs, languages) or directions_with_data(
        folder, "train", languages
    )
    if args.valid_lang_pairs == ALL:
        args.valid_lang_pairs = directions_with_data(folder, "valid", languages)
    if args.early_stopping_on_zero_shot and not (
        {*directions_of(args.valid_lang_pairs, languages)} - {*args.lang_pairs}
    ):
        raise InputError(
            "--early-stopping-on-zero-shot has no effect: all directions of validation are trained; "
            "give --valid-lang-pairs all, or leave it out"
        )


def inference_direction(args: Namespace, languages: Sequence[str]) -> Direction:
    """The direction of --source-lang and --target-lang; `InputError` if one is missing or unknown."""
    if args.source_lang is None or args.target_lang is None:
        raise InputError("give both --source-lang and --target-lang (-s and -t)")
    direction = parse_direction(f"{args.source_lang}-{args.target_lang}")
    for language in direction:
        check_known(language, languages)
    return direction
