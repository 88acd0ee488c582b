"""The command `zsnmt VERB ...`: a verb is a file of this folder, whose `main` takes the words after it;
`common` has what several of them share.
"""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import NoReturn

from zsnmt import console
from zsnmt.console import WrongUse
from zsnmt.errors import InputError

GROUPS = {  # what a person wants: verb, and what it does
    "Start": {
        "demo": "train three small models on invented languages (four minutes) or real text; compare them",
        "translate": "translate text with a trained run or its export",
    },
    "Prepare text": {
        "fetch": "download a corpus (IWSLT, Europarl, PMIndia, Multi30k, Tatoeba), Bibles, treebanks",
        "import-corpus": "turn the release of a corpus into parallel text",
        "check": "check a folder of parallel text and count its sentence pairs",
        "check-overlap": "find training pairs that are also in the validation or test sets, and leave them "
        "out",
        "clean": "leave training pairs out that are not text to learn from, and list them",
        "cut-multiway": "cut training pairs from text that has every sentence in every language",
        "round-trip": "count the sentences that survive tokenisation and detokenisation",
        "make-synthetic": "make parallel text in artificial languages",
        "prepare": "turn parallel text into the binarised folder that fairseq trains on",
    },
    "Train": {
        "train": "train a model on text of your own, or a system of a config",
        "adapt": "teach a trained run new languages",
        "direct": "train a model that translates between all languages directly, by four trainings",
        "distill": "train a student on a run's translations, in directions without text by people",
        "average": "average another number of a run's checkpoints, as a run of its own",
        "slurm": "train and score systems on a cluster with SLURM, as an array of jobs",
        "options": "list the options of an architecture and its task, with their defaults",
    },
    "Look at runs": {
        "evaluate": "translate the test set in every direction, score it and compare runs",
        "score": "score translations that another toolkit made of a run's test set",
        "table": "print scored runs side by side",
        "confidence": "measure how well the confidence of translations ranks them by their quality",
        "report": "make one HTML page from scored runs: tables, figures, examples",
        "count-pieces": "count the pieces of each language in the training text of older runs",
        "probe": "measure what a run's encoder knows of token, position and language",
        "probe-states": "write the encoder's states of a test set, the first step of probe",
        "probe-similarity": "compare languages in these states: SVCCA, CKA, retrieval",
        "probe-figures": "compute figures of these states without training, such as shares of variance",
        "probe-classifiers": "fit linear classifiers to these states",
    },
    "Study": {
        "ablate": "train and score the systems of an ablation study",
        "claims": "make the runs that undecided claims of the papers need",
        "galactic": "give sentences the word order of another language (Galactic Dependencies)",
        "make-synthetic-trees": "make dependency treebanks of the artificial languages",
    },
    "Study masked language models": {
        "masked-lm": "train and score masked language models with each position encoding",
        "masked-lm-report": "make tables, figures and a page from such runs",
        "position-tables": "compare the position tables of pretrained BERTs: Procrustes losses, heat maps",
        "xnli": "train such models on several languages, fine-tune them on MultiNLI, test them on XNLI",
        "xnli-table": "print accuracy on XNLI by position encoding and language",
        "evaluate-nli": "score one model on the XNLI test sets",
        "prepare-bert": "make the data of a masked language model with a fake second language",
        "prepare-bible": "make the text of a masked language model from two Bibles, one verse per line",
        "prepare-languages": "make the data of a masked language model of several languages",
        "prepare-xnli": "make the data of natural language inference",
        "make-synthetic-nli": "make pairs of natural language inference in the artificial languages",
    },
    "Share": {
        "serve": "serve trained runs: a page to try them, and a REST interface like LibreTranslate's",
        "export": "export a run for CTranslate2, Hugging Face's transformers or Argos Translate",
        "wheelhouse": "collect all packages in a folder, to install them on a machine without network",
    },
    "Keep results": {
        "results": "keep scores of runs in docs/results/ and make the tables of documents from them",
        "benchmark": "measure the speed of training, translation and probes",
    },
}
EXTRAS = {
    "indicnlp": "indic",
    "py3langid": "translate",
    "sentencex": "translate",
}  # of setup.py; others: train
ENGINE, EXPORT_VERBS = ("torch", "fairseq"), ("translate", "serve")  # which an export is translated without
# What goes on after a stop.
RESUMED = "ablate adapt claims demo direct distill evaluate masked-lm probe train xnli".split()
VERBS = {verb: does for verbs in GROUPS.values() for verb, does in verbs.items()}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Do what the words say, those of the command line unless given, and exit as `console.run` does."""
    words = sys.argv[1:] if arguments is None else arguments
    verb = words[0] if words else ""
    console.run(
        partial(run, words),
        f"{verb}: stopped; the same command goes on from here" if verb in RESUMED else None,
    )


def run(arguments: Sequence[str]) -> None:
    """Run a verb with the words after it; without a verb, show all. Raises `WrongUse` for one that does
    not exist.
    """
    verb, *rest = arguments or ["--help"]
    if verb in ("-h", "--help"):
        print(overview())
    elif verb == "--version":
        print(f"zsnmt {version('zsnmt')}")
    elif verb not in VERBS:
        near = get_close_matches(verb, VERBS, n=1)
        raise WrongUse(
            f"there is no verb '{verb}'; {f'did you mean {near[0]}? ' if near else ''}zsnmt --help lists all"
        )
    else:
        try:
            import_module(f"{__name__}.{verb.replace('-', '_')}").main(rest)
        except ModuleNotFoundError as error:
            raise explain_missing(verb, error) from error


def explain_missing(verb: str, error: ModuleNotFoundError) -> Exception:
    """What to install for a verb that needs a package which is not there; another error as it is."""
    package = (error.name or "zsnmt").partition(".")[0]
    if package in ("zsnmt", *sys.stdlib_module_names):
        return error
    instead = ", or give an export of the run" if verb in EXPORT_VERBS and package in ENGINE else ""
    return InputError(
        f"zsnmt {verb} needs {package} here, which is not installed; run pip install "
        f"'zsnmt[{EXTRAS.get(package, 'train')}]'{instead}"
    )


def overview() -> str:
    """Every verb with what it does, by what a person wants."""
    lines = [
        "usage: zsnmt VERB ...",
        "",
        "Multilingual zero-shot translation: train on text between one language (the pivot, mostly English)",
        "and several others, translate between all of them. To begin with text of your own:",
        "",
        "  zsnmt train FOLDER",
        "  zsnmt evaluate RUN",
        "  zsnmt translate RUN --from de --to fr --via en < lines.txt",
        "",
        "zsnmt VERB --help explains a verb and its options; zsnmt --version.",
    ]
    width = max(map(len, VERBS))
    for title, verbs in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {verb:<{width}}  {does}" for verb, does in verbs.items())]
    return "\n".join(lines)
