"""Treebanks of invented languages: the sentences of a synthetic corpus with the trees that its grammars give
them.

The format is CoNLL-U and the labels are those of Universal Dependencies, version 2. Trees are projective.
Affixes stay inside words, where the features name them. What no language marks, as the singular and the
present, is not a feature.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.grammar import Language, Meaning, Word, render, sentence_tree
from zsnmt.errors import InputError
from zsnmt.files.replacing import new_folder
from zsnmt.languages import LANGUAGES_FILE
from zsnmt.text.lines import write_lines

NOUNS_AND_VERBS = {"noun": "NOUN", "transitive": "VERB", "intransitive": "VERB"}  # part of speech
ROLES = {
    "agent": "nsubj",
    "patient": "obj",
    "place": "obl",
    "first": "root",
    "second": "conj",
}  # their relation
OTHER_WORDS = {  # word class or marker -> part of speech and relation
    "adjective": ("ADJ", "amod"),
    "adverb": ("ADV", "advmod"),
    "adposition": ("ADP", "case"),
    "numeral": ("NUM", "nummod"),
    "conjunction": ("CCONJ", "cc"),
    "plural": ("DET", "det"),
    "definite": ("DET", "det"),
    "patient": ("ADP", "case"),
    "past": ("AUX", "aux"),
    "future": ("AUX", "aux"),
    "not": ("PART", "advmod"),
    "mark": ("PUNCT", "punct"),
}
FEATURES = {
    "plural": "Number=Plur",
    "definite": "Definite=Def",
    "patient": "Case=Acc",
    "past": "Tense=Past",
    "future": "Tense=Fut",
    "not": "Polarity=Neg",
}


def conllu_tree(meaning: Meaning, language: Language, stems: Mapping[str, str], name: str) -> str:
    """The sentence that says `meaning`, in CoNLL-U with `name` as its id; its words are those that
    `render` writes.
    """
    text = render(meaning, language, stems)
    words = list(sentence_tree(meaning, language, stems).words())
    heads = {
        id(child): number for number, word in enumerate(words, 1) for child in (*word.before, *word.after)
    }
    lines = [f"# sent_id = {name}", f"# text = {text}"]
    for number, (form, word) in enumerate(zip([*text[:-1].split(), text[-1]], words, strict=True), 1):
        upos, relation = labels(word)
        lemma, head = stems.get(word.concept, form), str(heads.get(id(word), 0))
        misc = "SpaceAfter=No" if number == len(words) - 1 else "_"
        lines.append(
            "\t".join([str(number), form, lemma, upos, "_", features(word), head, relation, "_", misc])
        )
    return "\n".join(lines) + "\n\n"


def labels(word: Word) -> tuple[str, str]:
    """The universal part of speech of a word, and its relation to the word it depends on."""
    word_class = word.concept.rstrip("0123456789")
    return (NOUNS_AND_VERBS[word_class], ROLES[word.role]) if word.role else OTHER_WORDS[word_class]


def features(word: Word) -> str:
    """What a particle or the affixes of a word mark, as the column of CoNLL-U."""
    return (
        "|".join(sorted(FEATURES[marker] for marker in (word.concept, *word.affixes) if marker in FEATURES))
        or "_"
    )


def treebanks(corpus: SyntheticCorpus, sentences: int) -> Iterator[tuple[str, str]]:
    """The name and content of each file: `train`, of so many sentences, and `valid`, of as many as `corpus`
    says.

    Sentence n of a split says the same in every language, and no sentence occurs twice. Raises InputError.
    """
    if sentences < 1:
        raise InputError(f"sentences is {sentences}; ask for at least 1 sentence")
    seen: set[bytes] = set()
    for split, number in (("train", sentences), ("valid", corpus.valid)):
        meanings = list(corpus.draw(f"{split} trees", number, seen))
        for language in corpus.languages:
            stems = corpus.stems[language.name]
            trees = (
                conllu_tree(meaning, language, stems, name=f"{split}-{n}")
                for n, meaning in enumerate(meanings, 1)
            )
            yield f"{split}.{language.name}.conllu", "".join(trees)


def write_treebanks(corpus: SyntheticCorpus, sentences: int, folder: Path) -> None:
    """Writes `{train,valid}.{lang}.conllu`, and `languages.txt` with the pivot first, into a new folder;
    raises InputError.
    """
    with new_folder(folder) as part:
        write_lines(part / LANGUAGES_FILE, [language.name for language in corpus.languages])
        for name, content in treebanks(corpus, sentences):
            (part / name).write_text(content, encoding="utf-8", newline="\n")
