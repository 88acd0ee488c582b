"""The config of a translation experiment: every key, what it says, and its default."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zsnmt.corpora.cleaning import Cleaning, parse_cleaning
from zsnmt.corpora.limits import parse_limits
from zsnmt.decoding.length_penalty import FORMS
from zsnmt.decoding.methods.settings import parse_ways
from zsnmt.decoding.options import CPU_PRECISIONS
from zsnmt.scoring.options import IDENTIFIERS, SUBWORDS, Scoring
from zsnmt.text.settings import UNIT_TYPES, WORD, TextSettings
from zsnmt.training.config_file import (
    FAIRSEQ_OPTIONS,
    LANGUAGES,
    NUMBER,
    POSITIVE,
    TEXT,
    WHOLE,
    WORDS,
    YES,
    ConfigFile,
    choice,
    keys_of,
    setting,
)
from zsnmt.training.sources import SOURCE_KINDS

LIMITS = parse_limits, ""
CLEANING = parse_cleaning, ""


@dataclass(frozen=True)
class Config:
    """The settings of an experiment; a key of the file is the name of the field in capitals.

    Exactly one of `text`, `synthetic`, `multiway` and `release` says where text comes from. None is the
    default of what takes the setting: the beam search and the subword model.
    """

    languages: tuple[str, ...] = setting(LANGUAGES, "the language codes, the pivot first")
    text: str = setting(TEXT, "folder of parallel text, or text in another form of docs/own_text.md", "")
    pattern: str = setting(TEXT, "names of the files in TEXT, such as corpus.{pair}.{language}", "")
    all_pairs: bool = setting(
        YES,
        "rows of TEXT in several languages are training text of all pairs, not of those with the pivot",
        False,
    )
    held_out: int | None = setting(
        POSITIVE,
        "so many sentence pairs of each pair, and at most a twentieth, become a test set, and as many a "
        "validation set, where TEXT has none",
        None,
    )
    synthetic: tuple[str, ...] = setting(WORDS, "options of zsnmt make-synthetic, which makes the text", ())
    multiway: str = setting(TEXT, "folder of a multiway corpus, from which training pairs are cut", "")
    condition: str = setting(
        choice("multiway", "non_overlap"), "how the pairs of MULTIWAY share sentences", "multiway"
    )
    release: str = setting(TEXT, "folder of the release of a corpus", "")
    corpus: tuple[str, ...] = setting(
        WORDS, "name of the corpus in RELEASE, and options of zsnmt import-corpus", ()
    )
    pairs: Mapping[str, int] | None = setting(
        LIMITS, "at most so many training pairs: 30000, or 30000 de-en=14000", None
    )
    cleaning: Cleaning = setting(
        CLEANING,
        "rules by which training pairs are left out: empty copy long=1000 length=2.5 language duplicate "
        "near_duplicate, or some of them",
        Cleaning(),
    )
    tokenisation: str = setting(
        TEXT,
        "what is done before the subword model: raw, moses, moses_truecase, indic, by_script; with "
        "_as_spelt after Moses' kinds and by_script, punctuation is not normalised",
        TextSettings.tokenisation,
    )
    mark_tokens: bool = setting(YES, "no two languages have a token in common", False)
    vocabulary: int = setting(POSITIVE, "pieces of the subword model", TextSettings.vocabulary_size)
    merges: int | None = setting(POSITIVE, "merge operations of BPE, in place of VOCABULARY", None)
    transliterate: str | None = setting(
        choice("devanagari"), "the script that the model has in place of all Indic ones", None
    )
    subword_type: str = setting(
        choice(*UNIT_TYPES), "kind of subword model, or whole words", TextSettings.model_type
    )
    balance: float | None = setting(
        NUMBER, "temperature at which languages are sampled for the subword model", None
    )
    threshold: int = setting(
        WHOLE,
        "a language uses only pieces that occur so often in its training text; 0 is for all",
        TextSettings.threshold,
    )
    shards: int = setting(
        POSITIVE, "parts of the training text, of which an epoch reads one; see docs/data.md", 1
    )
    model: tuple[str, ...] = setting(FAIRSEQ_OPTIONS, "options of fairseq-train for the model", ())
    training: tuple[str, ...] = setting(FAIRSEQ_OPTIONS, "options of fairseq-train for the training", ())
    distillation: tuple[str, ...] = setting(
        FAIRSEQ_OPTIONS, "options of fairseq-train for the students of zsnmt distill", ()
    )
    student_layers: int | None = setting(
        POSITIVE,
        "encoder layers of students that learn from translations, where their teacher has fewer and no "
        "options after -- give others",
        None,
    )
    word_level: float = setting(
        NUMBER, "weight of word-level distillation for students, unless --word-level gives another", 0.0
    )
    few_lines: int = setting(
        WHOLE, "so many real lines of each zero-shot direction are added by zsnmt distill --sides none", 0
    )
    average: int = setting(POSITIVE, "so many of the best checkpoints are averaged", 5)
    beam: int | None = setting(POSITIVE, "hypotheses kept at each step of the search", None)
    length_penalty: float | None = setting(NUMBER, "exponent of the length penalty", None)
    length_penalty_form: str | None = setting(choice(*FORMS), "its form", None)
    precision: str | None = setting(
        choice(*CPU_PRECISIONS),
        "precision in which a CPU scores runs: see --precision of zsnmt evaluate",
        None,
    )
    ways: tuple[str, ...] = setting(
        WORDS, "in what other ways runs are scored: see --ways of zsnmt evaluate", ()
    )
    test_lines: int | None = setting(POSITIVE, "only the first lines of the test set are scored", None)
    identifier: str = setting(choice(*IDENTIFIERS), "what finds off-target output", Scoring.identifier)
    bleu_tokenizer: str = setting(TEXT, "sacreBLEU's, or subwords: the model's own", Scoring.bleu_tokenizer)
    normalise_references: bool = setting(
        YES, "references are spelt as the tokenisation spells its output", False
    )

    def __post_init__(self) -> None:
        _ = self.text_settings, parse_ways(self.ways)  # which refuse what does not go together

    @property
    def text_settings(self) -> TextSettings:
        """How the text pipeline is made."""
        return TextSettings(
            vocabulary_size=self.vocabulary,
            model_type=self.subword_type,
            balance=self.balance,
            threshold=self.threshold,
            tokenisation=self.tokenisation,
            mark_tokens=self.mark_tokens,
            merges=self.merges,
            transliterate=self.transliterate,
        )

    @property
    def fairseq_options(self) -> list[str]:
        """The options of fairseq-train that all systems of the experiment have in common."""
        return [*self.model, *self.training]


def read_config(path: Path, variables: Mapping[str, str]) -> Config:
    """The config in a file; `variables` are what its `$NAME`s stand for, the environment and ROOT.

    Raises `InputError` for a file that breaks a rule.
    """
    file = ConfigFile(path, keys_of(Config), variables)
    *others, last = SOURCE_KINDS
    given = [key for key in SOURCE_KINDS if file.value(key)]
    if not file.value("LANGUAGES"):
        file.refuse("LANGUAGES", "does not set LANGUAGES, the language codes with the pivot first")
    if len(given) != 1:
        file.refuse(
            given[-1] if given else last,
            f"must say where text comes from by exactly one of {', '.join(others)} and {last}; it sets "
            f"{' and '.join(given) or 'none of them'}",
        )
    for source, kind in SOURCE_KINDS.items():
        for key, remedy in kind.further.items():
            if (value := file.value(key)) and source not in given:
                file.refuse(key, f"sets {key}, which belongs to {source}; {remedy.format(value=value)}")
    if file.value("RELEASE") and not file.value("CORPUS"):
        file.refuse("RELEASE", "sets RELEASE but not CORPUS, the name of the corpus released there")
    if file.value("MERGES") and file.value("VOCABULARY"):
        file.refuse("MERGES", "sets MERGES beside VOCABULARY; leave one of the two out")
    if file.value("SUBWORD_TYPE") == WORD and file.value("BLEU_TOKENIZER") == SUBWORDS:
        file.refuse(
            "BLEU_TOKENIZER",
            f"sets BLEU_TOKENIZER={SUBWORDS}, which a model of whole words does not have; choose another, or "
            "leave it out",
        )
    return file.read_into(Config)
