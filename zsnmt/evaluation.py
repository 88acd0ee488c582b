"""Scores of a run: every direction, the zero-shot ones also through the pivot.

A result is a dictionary: `direction`, `kind` (supervised, zero_shot, pivot), `bleu` and `chrf`
(0–100, sacreBLEU on raw text), `off_target` (share 0–1 of outputs not in the target language),
`reference_error` (the same for the references: the identifier's error), `identified` (share of
each language among the outputs), `lines`, `empty`.
"""

import functools
import hashlib
import itertools
import json
import logging
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence

from sacrebleu.metrics import BLEU, CHRF

from zsnmt.corpora.parallel_text import find_pair, pairs_of_split, read_lines, write_lines
from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.language_identification import Identifier, load_identifier, shares
from zsnmt.languages import Direction, supervised_directions, zero_shot_directions
from zsnmt.runs import read_record, training_summary
from zsnmt.text.subword import MODEL_FILE as SUBWORD_FILE
from zsnmt.text.subword import Subwords
from zsnmt.translation import MODEL_FILE, PIPELINE_FOLDER, Translator

logger = logging.getLogger(__name__)

SUBWORDS = "subwords"
NORMALISED = "|ref:normalised"  # in a signature
TestSet = tuple[Sequence[str], Sequence[str]]  # sources and references


class Metrics:
    """BLEU and chrF++ with their signatures.

    `bleu_tokenizer` is one of sacreBLEU's, or `subwords`: the pieces of the SentencePiece model `subwords`,
    which makes scores of one experiment comparable in every script, and with no other experiment.
    """

    def __init__(self, bleu_tokenizer: str = "13a", subwords: Optional[Path] = None) -> None:
        self.subwords = Subwords(subwords) if bleu_tokenizer == SUBWORDS else None
        self.bleu = BLEU(tokenize="none", force=True) if self.subwords else BLEU(tokenize=bleu_tokenizer)
        self.chrf = CHRF(word_order=2)

    def scores(self, hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, float]:
        """BLEU and chrF++ (0–100) of raw text against one reference each."""
        if len(hypotheses) != len(references):
            raise InputError(f"{len(hypotheses)} translations but {len(references)} references; translate the set again")
        return {
            "bleu": self.bleu.corpus_score(self.pieces(hypotheses), [self.pieces(references)]).score,
            "chrf": self.chrf.corpus_score(hypotheses, [references]).score,
        }

    def pieces(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines as BLEU gets them: as they are, or with a space between their subwords."""
        return [" ".join(pieces) for pieces in self.subwords.encode_lines(lines, "")] if self.subwords else lines

    def signatures(self) -> dict[str, str]:
        """What the scores depend on; known only after a score."""
        signature = str(self.bleu.get_signature())
        if self.subwords:
            signature = signature.replace("tok:none", f"tok:subwords-{hashlib.sha256(self.subwords.model).hexdigest()[:8]}")
        return {"bleu": signature, "chrf": str(self.chrf.get_signature())}


def off_target_rate(identified: Sequence[str], target: str) -> float:
    """Share (0–1) of sentences identified as anything but the target language."""
    return sum(language != target for language in identified) / len(identified)


def score_direction(
    direction: Direction,
    kind: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    metrics: Metrics,
    identifier: Identifier,
) -> dict:
    """The result of one direction (see the module)."""
    identified = identifier.identify(hypotheses)
    return {
        "direction": str(direction),
        "kind": kind,
        **metrics.scores(hypotheses, references),
        "off_target": off_target_rate(identified, direction.target),
        "reference_error": off_target_rate(identifier.identify(references), direction.target),
        "identified": shares(identified),
        "lines": len(hypotheses),
        "empty": sum(not hypothesis.strip() for hypothesis in hypotheses),
    }


class Hypotheses:
    """Translations of test sets, one file each, so that an interrupted evaluation resumes.

    Files made with other settings (model, beam, text) are removed.
    """

    def __init__(self, folder: Path, settings: dict, translate: Callable[[Sequence[str], Direction], list[str]]) -> None:
        self.folder = folder
        self.translate = translate
        folder.mkdir(parents=True, exist_ok=True)
        record, written = folder / "settings.json", json.dumps(settings, indent=1).encode("utf-8")
        if not record.is_file() or record.read_bytes() != written:
            for old in folder.glob("*.txt"):
                old.unlink()
            with replacing(record) as file:
                file.write(written)

    def of(self, name: str, direction: Direction, sources: Callable[[], Sequence[str]]) -> list[str]:
        """The translations kept under a name, made from `sources()` unless they are there."""
        path = self.folder / f"{name}.txt"
        if not path.is_file():
            write_lines(path, self.translate(sources(), direction))
        return read_lines(path, allow_empty_lines=True)


def evaluate(
    run: Path,
    text: Optional[Path] = None,
    split: str = "test",
    identifier_kind: str = "py3langid",
    bleu_tokenizer: str = "13a",
    beam: int = 4,
    directions: Optional[Sequence[Direction]] = None,
    scored: Callable[[dict], object] = lambda result: None,
    kept: Optional[Path] = None,
    lines: Optional[int] = None,
    normalise: bool = False,
) -> dict:
    """Translate and score a split of `text` (the run's own by default) in every direction, for scores.json.

    The model is loaded once. Zero-shot directions are also translated through the pivot, whose text is
    the model's own output, reused where a source set is shared. `scored` is told each result; the
    hypotheses are kept in `kept` (RUN/hypotheses by default). `lines` scores only that many, the first ones. With
    `normalise` references are spelt as the run's tokenisation spells its output, which the signatures say.
    """
    record = read_record(run)
    text = text or Path(record["text"])
    translator = Translator(run, beam=beam)
    directions = list(directions or directions_with_text(text, split, translator.languages))
    files = {direction: find_pair(text, split, *direction) for direction in directions}
    sets = read_sets(files, lines, translator.pipeline.normalise if normalise else lambda reference, language: reference)
    identifier, identifier_signature = load_identifier(identifier_kind, translator.languages, text)
    decoding = {"model": sha256(run / MODEL_FILE), "beam": beam, "length_penalty": 1.0, "split": split, **({"lines": lines} if lines else {})}
    sources = {str(direction): sha256(paths[0]) for direction, paths in files.items()}
    hypotheses = Hypotheses(
        kept or run / "hypotheses", {**decoding, "sources": sources}, lambda lines, direction: translator.translate(lines, direction.target, direction.source)
    )
    metrics = Metrics(bleu_tokenizer, run / PIPELINE_FOLDER / SUBWORD_FILE)
    results = []
    for kind, direction, translations in translate_all(hypotheses, sets, translator.trained, translator.pivot):
        results.append(score_direction(direction, kind, translations, sets[direction][1], metrics, identifier))
        scored(results[-1])
    return {
        **record,
        "training": training_summary((run / "train.log").read_text(encoding="utf-8")),
        "languages": translator.languages,
        "pivot": translator.pivot,
        "decoding": decoding,
        "signatures": {
            **{metric: signature + NORMALISED * normalise for metric, signature in metrics.signatures().items()},
            "off_target": identifier_signature,
        },
        "directions": results,
    }


def directions_with_text(text: Path, split: str, languages: Sequence[str]) -> list[Direction]:
    """All directions that can be scored, those with the pivot (the first language) first.

    Says which pairs have no text in the split; `InputError` if none has.
    """
    pairs = pairs_of_split(text, split, languages)
    if not pairs:
        raise InputError(f"{text} has no text in split '{split}' for any two of {', '.join(languages)}")
    without = [f"{a}-{b}" for a, b in itertools.combinations(languages, 2) if (a, b) not in pairs]
    if without:
        logger.warning("not scored, for want of text in split '%s' of %s: %s", split, text, ", ".join(without))
    directions = supervised_directions(languages, languages[0]) + zero_shot_directions(languages, languages[0])
    return [direction for direction in directions if {direction, direction[::-1]} & {*pairs}]


def read_sets(
    files: dict[Direction, tuple[Path, Path]], lines: Optional[int], respell: Callable[[str, str], str]
) -> dict[Direction, TestSet]:
    """The first lines (or all) of each direction's files, the references spelt anew; a file is read and spelt once."""
    read = functools.cache(lambda path: read_lines(path)[:lines])
    references = functools.cache(lambda path, language: [respell(line, language) for line in read(path)])
    return {
        direction: (read(source), references(target, direction.target)) for direction, (source, target) in files.items()
    }


def translate_all(
    hypotheses: Hypotheses, sets: dict[Direction, TestSet], trained: Sequence[Direction], pivot: str
) -> Iterator[tuple[str, Direction, list[str]]]:
    """Kind, direction and translations: the direct ones first, then those of zero-shot directions through the pivot."""
    zero_shot = [direction for direction in sets if direction not in trained]
    for direction, (sources, _) in sets.items():
        kind = "zero_shot" if direction in zero_shot else "supervised"
        yield kind, direction, hypotheses.of(f"direct.{direction}", direction, lambda: sources)
    for direction in zero_shot:
        if pivot in direction:
            continue
        yield "pivot", direction, hypotheses.of(
            f"pivot.{direction}",
            Direction(pivot, direction.target),
            lambda: translate_into_pivot(hypotheses, sets, direction, pivot),
        )


def translate_into_pivot(
    hypotheses: Hypotheses, sets: dict[Direction, TestSet], direction: Direction, pivot: str
) -> list[str]:
    """The sources of a zero-shot direction in the pivot: a supervised output where it has the same sources."""
    first_leg = Direction(direction.source, pivot)
    sources, _ = sets[direction]
    if first_leg in sets and sets[first_leg][0] == sources:
        return hypotheses.of(f"direct.{first_leg}", first_leg, lambda: sources)
    return hypotheses.of(f"into_pivot.{direction}", first_leg, lambda: sources)


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
