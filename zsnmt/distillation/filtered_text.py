"""The synthetic text that is kept, with lists and counts of what is not."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from zsnmt.corpora.overlap import held_out_sentences
from zsnmt.corpora.parallel_text import TRAIN, VALID, find_pair
from zsnmt.distillation.filters import REASONS, Filters
from zsnmt.distillation.learned_text import check_learned_text
from zsnmt.distillation.settings import ANY
from zsnmt.distillation.synthetic_text import RECORD_FILE, SyntheticText, dropped_list
from zsnmt.distillation.translation import PROGRAMS, read_programs, translate
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing, replacing_folder
from zsnmt.languages import Direction
from zsnmt.processes import cores, map_in_processes, progress
from zsnmt.scoring.language_identification import Identifier, load_identifier, scripts_of
from zsnmt.text.lines import iterate_lines, write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.training.steps import Steps

SAMPLE = 1000  # lines of a language that show its script, and how often its identifier errs


def make_synthetic_text(steps: Steps, synthetic: SyntheticText) -> None:
    """Translate and filter, unless it was done before. Raises `InputError` where nothing is left."""
    directions = synthetic.directions()
    if not directions:
        raise InputError(
            f"{synthetic.authentic} has training text between all its languages, or with one of them alone: "
            "there is nothing to distil"
        )
    synthetic.check_teacher()
    if missing := [str(direction) for direction in synthetic.without_text if direction not in directions]:
        steps.say(
            f"{synthetic.teacher.run} has not learned {', '.join(missing)}, of which its own training "
            "text had nothing: nothing is translated for them"
        )
    translate(steps, synthetic, directions)
    steps.make(
        synthetic.folder,
        "text",
        synthetic.text,
        work=partial(write_text, steps, synthetic, directions),
        inputs=[synthetic.authentic, *map(synthetic.translations, directions)],
        settings=synthetic.settings.to_json(),
    )


def write_text(steps: Steps, synthetic: SyntheticText, directions: Sequence[Direction]) -> None:
    """Write what the filters keep, the lists of what they drop, and synthetic.json; `InputError`, after that,
    where they keep nothing to train on, and before it where a student has learned from what they now leave
    out as held-out sentences.
    """
    languages = synthetic.experiment.config.languages
    samples = {
        language: [*islice(iterate_lines(file), SAMPLE)]
        for other in dict.fromkeys(direction.source for direction in directions)
        for language, file in zip(
            (synthetic.pivot, other), find_pair(synthetic.authentic, TRAIN, synthetic.pivot, target=other)
        )
    }
    identifier, signature = chosen_identifier(synthetic, languages, samples)
    held_out = held_out_sentences(synthetic.authentic, languages)
    filters = Filters(
        TextPipeline.load(synthetic.teacher.pipeline),
        identifier,
        held_out,
        longest=synthetic.teacher.longest,
        reads_authentic=synthetic.settings.reads_authentic,
    )
    with replacing_folder(synthetic.text) as part:
        for source in dict.fromkeys(direction.source for direction in directions):
            (part / source).mkdir()
        write = partial(write_direction, synthetic, filters, part)
        written = map_in_processes(write, directions, cores(), together=1)
        counts = dict(zip(map(str, directions), progress(written, "filtering", len(directions))))
        check_learned_text(synthetic, part, held_out, directions=directions)
        programs: list[dict[str, str]] = []
        for direction in directions:
            programs += [
                each for each in read_programs(synthetic.translated_by(direction)) if each not in programs
            ]
        write_json(
            part / RECORD_FILE,
            {
                "teacher": synthetic.teacher.describe(),
                **synthetic.settings.to_json(),
                PROGRAMS: programs,
                "identifier": signature,
                "identifier_error": {
                    language: sum(found != language for found in identifier.identify(lines)) / len(lines)
                    for language, lines in samples.items()
                    if identifier and language != synthetic.pivot
                },
                "directions": counts,
            },
        )
    if not sum(of_direction["train"] for of_direction in counts.values()):
        raise InputError(
            f"the filters keep none of the translations of {synthetic.teacher.run}; "
            f"{synthetic.text}/*/dropped.*.tsv say why: train the teacher longer, or give another "
            "--identifier, or another IDENTIFIER in the config"
        )
    say_what_is_dropped(steps, counts)


def chosen_identifier(
    synthetic: SyntheticText, languages: Sequence[str], samples: dict[str, list[str]]
) -> tuple[Identifier | None, str]:
    """The identifier of the settings with its signature."""
    kind = synthetic.settings.identifier
    if kind == ANY:
        return None, ANY
    return load_identifier(kind, languages, synthetic.authentic, scripts=scripts_of(samples))


def write_direction(synthetic: SyntheticText, filters: Filters, folder: Path, direction: Direction) -> dict:
    """Write what is kept of a direction and the list of the others into a folder; counts."""
    counts: Counter[str] = Counter(dict.fromkeys((TRAIN, VALID, *REASONS), 0))
    source, target = direction
    dropped = []
    for split, rows in zip((TRAIN, VALID), synthetic.rows(direction)):
        reasons = filters.reasons(rows, direction)
        kept = [row for row, reason in zip(rows, reasons) if not reason]
        counts.update(reasons)
        counts[split] = len(kept)
        if kept:
            write_lines(folder / source / f"{split}.{direction}.{source}", [row.authentic for row in kept])
            write_lines(folder / source / f"{split}.{direction}.{target}", [row.synthetic for row in kept])
        dropped += [(reason, row) for row, reason in zip(rows, reasons) if reason]
    with replacing(folder / source / dropped_list(direction)) as file:
        for reason, (line, *sentences) in dropped:
            shown = (sentence.replace("\t", " ") for sentence in sentences)
            file.write("\t".join([reason, str(line), *shown]).encode("utf-8") + b"\n")
    return {
        TRAIN: counts[TRAIN],
        VALID: counts[VALID],
        "dropped": {reason: counts[reason] for reason in REASONS},
    }


def say_what_is_dropped(steps: Steps, counts: dict[str, dict]) -> None:
    """Tell how many pairs there are, and why others are not."""
    total: Counter[str] = sum(
        (Counter(of_direction["dropped"]) for of_direction in counts.values()), Counter()
    )
    kept = sum(of_direction[split] for of_direction in counts.values() for split in (TRAIN, VALID))
    why = ", ".join(f"{reason} {number:,}" for reason, number in total.items() if number)
    steps.say(
        f"{kept:,} synthetic pairs in {len(counts)} directions; {total.total():,} translations are left out"
        + f" ({why})" * bool(why)
    )
    if without := [direction for direction, of_direction in counts.items() if not of_direction["train"]]:
        steps.say(f"nothing is left of {', '.join(without)}")
