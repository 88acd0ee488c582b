"""A folder of transformers, checked by its own script in a process that has neither zsnmt nor fairseq."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from zsnmt.corpora.parallel_text import find_pair, pairs_of_split
from zsnmt.data.reading import Codec
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.records import read_json, write_json
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.ctranslate2.check import EXACT, best_of_equal_lengths, score_translations
from zsnmt.inference.export.samples import Sample
from zsnmt.inference.trained_run import TrainedRun
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines

CHECK_FILE, SCRIPT = "check.json", "check_zsnmt.py"
LINES = 20  # of each language
RUN_WITHOUT_ZSNMT = """
import runpy, sys
sys.modules.update(dict.fromkeys(("zsnmt", "fairseq")))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
ODD_LINES = (  # what a tokenizer of transformers, or SentencePiece, may take for something else
    "",
    "  two  spaces,\ta tab and \u2581 a mark ",
    "</s> <pad> <unk> __en__ <s>",
    "\u4f60\u597d, \u3053\u3093 \U0001f600\U0001f600 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "e\u0301 \u00e9 \ufb01 \u00bd \u2460 \u00a0no-break\u200d joiner\u200b",
    '"Quoted," (she said): 3.5% \u2014 isn\'t it?',
)


def write_check(folder: Path, trained: TrainedRun, samples: Sequence[Sample], text: Path) -> None:
    """Write sentences with what PyTorch and fairseq's search make of them, and lines with their tokens."""
    model, search = trained.model, Search()
    sentences = [sample.sentence for sample in samples]
    engine = FairseqEngine(model, trained.task.build_generator([model], fairseq_options(search)))
    best = best_of_equal_lengths(engine, sentences)
    longest = model.max_decoder_positions() - 1
    limits = [search.limit(len(sentence.source), longest) for sentence in sentences]
    translations = [*samples, *((sentence, each.tokens) for sentence, each in zip(sentences, best))]
    content = {
        "allowed": EXACT,
        "translations": [
            {**scored.sentence._asdict(), "tokens": scored.tokens, "log_probabilities": scored[2]}
            for scored in score_translations(model, translations)
        ],
        "best": [
            {**sentence._asdict(), "limit": limit + 1, **each._asdict()}
            for sentence, each, limit in zip(sentences, best, limits)
            if len(each.tokens) <= limit  # of what is cut off, transformers does not count EOS
        ],
        "lines": [*lines_to_check(trained.codec, text)],
    }
    write_json(folder / CHECK_FILE, content)


def lines_to_check(codec: Codec, text: Path) -> Iterator[dict]:
    """Lines of each language of the test set, and odd ones, with their tokens as source and as target."""
    files: dict[str, Path] = {}
    for pair in pairs_of_split(text, "test", codec.languages):
        files.update(zip(pair, find_pair(text, "test", *pair)))
    for place, language in enumerate(codec.languages):
        direction = Direction(language, codec.languages[place - 1])
        lines = read_lines(files[language]) if language in files else []
        for line in (*lines[:: max(1, len(lines) // LINES)], *ODD_LINES):
            target = codec.tokens(line, direction.target)
            sentence = codec.source(line, direction)
            yield {
                "from": direction.source,
                "to": direction.target,
                "text": line,
                "source": sentence.source,
                "start": sentence.start,
                "target": target,
                "back": codec.text(target, direction.target),
            }


def run_check(folder: Path) -> tuple[Agreement, dict]:
    """How far a folder is from its run, and the versions that it was checked with.

    `InputError` for a folder that cannot be loaded, and for one that differs.
    """
    with TemporaryDirectory() as home:
        report = Path(home) / "report.json"
        done = subprocess.run(
            [sys.executable, "-c", RUN_WITHOUT_ZSNMT, folder.resolve() / SCRIPT, "--report", report],
            capture_output=True,
            text=True,
            cwd=home,
            env={**os.environ, "HF_HOME": home, "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        )
        if not report.is_file():
            reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"the export is deleted, since transformers cannot load it: {reason}")
        found = read_json(report, "export the run again")
    check_agreement(found)
    agreement = Agreement(**{name: found[name] for name in Agreement._fields})
    return agreement, {name: found[name] for name in ("transformers", "torch")}


def check_agreement(found: dict) -> None:
    """`InputError` for what the script found where it is too far from the run."""
    if not found["largest"] <= EXACT:  # refuses NaN, too, as below
        raise InputError(
            "the export is deleted, since its log-probabilities differ from PyTorch's by up to "
            f"{found['largest']:.2g}, more than {EXACT}"
        )
    if not found["score"] <= EXACT:
        raise InputError(
            f"the export is deleted, since {1 - found['equal']:.1%} of its best translations are others than "
            f"fairseq's, with scores up to {found['score']:.2g} apart, more than {EXACT}"
        )
    if found["text"]:
        raise InputError(f"the export is deleted, since its tokenizer differs: {found['text'][0]}")
