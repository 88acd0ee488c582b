"""Natural language inference in invented languages: pairs of sentences of which the second follows from the
first, contradicts it, or does neither, in the files of MultiNLI and XNLI.

A clause says its parts: who does what to whom, where, how, how many of which kind. One that says some of the
parts of another follows from it, and the denial of the other follows from that of the one. So the words of
both sentences tell the label together with their order, which says who does it to whom.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, cycle
from pathlib import Path
from random import Random
from typing import NamedTuple

from zsnmt.corpora.invented.corpus import PATIENCE, VERSION, SyntheticCorpus, digest
from zsnmt.corpora.invented.grammar import Clause, Language, Meaning, NounPhrase, sample_clause
from zsnmt.corpora.invented.lexicon import pick, stream
from zsnmt.corpora.releases.xnli import HYPOTHESIS, LABEL, LABELS, LANGUAGE, PREMISE
from zsnmt.errors import InputError
from zsnmt.files.replacing import new_folder
from zsnmt.languages import LANGUAGES_FILE
from zsnmt.text.lines import write_lines

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS
LEAVES_OUT = 0.5  # probability of each part of a clause to be left out of another


class Inference(NamedTuple):
    """A premise, a hypothesis, and whether the one follows from the other."""

    premise: Clause
    hypothesis: Clause
    label: str


def says_phrase(whole: NounPhrase | None, part: NounPhrase | None) -> bool:
    """Whether a phrase says all that another one says, of the same thing."""
    if whole is None or part is None:
        return whole is part
    return (
        (whole.noun, whole.plural, whole.definite) == (part.noun, part.plural, part.definite)
        and part.numeral in (None, whole.numeral)
        and {*part.adjectives} <= {*whole.adjectives}
    )


def says(whole: Clause, part: Clause) -> bool:
    """Whether a clause says all that another one says, whether either is denied or not."""
    return (
        (whole.verb, whole.tense) == (part.verb, part.tense)
        and says_phrase(whole.agent, part.agent)
        and says_phrase(whole.patient, part.patient)
        and (part.place is None or (whole.relation == part.relation and says_phrase(whole.place, part.place)))
        and part.adverb in (None, whole.adverb)
    )


def label_of(premise: Clause, hypothesis: Clause) -> str:
    """Entailment where the hypothesis follows from the premise, contradiction where its denial does."""
    follows = says(hypothesis, premise) if premise.negative else says(premise, hypothesis)
    if not follows:
        return NEUTRAL
    return ENTAILMENT if premise.negative == hypothesis.negative else CONTRADICTION


def leave_out(clause: Clause, rng: Random) -> Clause:
    """The clause without some of what it need not say."""
    placed = clause.place is not None and rng.random() >= LEAVES_OUT
    return replace(
        clause,
        agent=with_less(clause.agent, rng),
        patient=clause.patient and with_less(clause.patient, rng),
        relation=clause.relation if placed else None,
        place=with_less(clause.place, rng) if placed and clause.place else None,
        adverb=clause.adverb if rng.random() >= LEAVES_OUT else None,
    )


def with_less(phrase: NounPhrase, rng: Random) -> NounPhrase:
    """The phrase without some of its numeral and adjectives."""
    return replace(
        phrase,
        numeral=phrase.numeral if rng.random() >= LEAVES_OUT else None,
        adjectives=tuple(each for each in phrase.adjectives if rng.random() >= LEAVES_OUT),
    )


def exchange(clause: Clause) -> Clause:
    """The clause with who does it and to whom exchanged, if it has both."""
    if clause.patient is None:
        return clause
    return replace(clause, agent=clause.patient, patient=clause.agent)


def substitute(clause: Clause, inventory: Mapping[str, Sequence[str]], rng: Random) -> Clause:
    """The clause with another verb, or with another agent."""
    if rng.random() < 0.5:
        verbs = inventory["transitive" if clause.patient else "intransitive"]
        return replace(clause, verb=pick(rng, verbs))
    return replace(clause, agent=replace(clause.agent, noun=pick(rng, inventory["noun"])))


def propose(label: str, inventory: Mapping[str, Sequence[str]], rng: Random) -> tuple[Clause, Clause]:
    """A premise and a hypothesis that mostly have a label. One says a part of the other, the hypothesis where
    the premise is affirmed. Neutral ones are as long, but with something changed, or else the other way
    round.
    """
    part = whole = sample_clause(inventory, rng)
    while part == whole:
        whole = sample_clause(inventory, rng)
        part = leave_out(whole, rng)
    denied = rng.random() < 0.5
    denies = {ENTAILMENT: denied, CONTRADICTION: not denied, NEUTRAL: rng.random() < 0.5}[label]
    change = pick(rng, ("exchange", "substitute", "turn")) if label == NEUTRAL else None
    if change == "exchange":
        part = exchange(part)
    elif change == "substitute":
        part = substitute(part, inventory, rng)
    premise, hypothesis = (part, whole) if denied != (change == "turn") else (whole, part)
    return replace(premise, negative=denied), replace(hypothesis, negative=denies)


@dataclass(frozen=True)
class SyntheticInference:
    """The settings of a set of pairs, and of text in the same languages; equal settings give equal files. The
    pairs of the corpus are those to learn from, and its `multiway_share` is of the sentences of the text.
    Raises InputError.
    """

    corpus: SyntheticCorpus
    sentences: int

    def __post_init__(self) -> None:
        if self.sentences < 1:
            raise InputError(f"sentences is {self.sentences}; ask for at least 1 sentence")

    def draw(self, split: str, number: int, seen: set[bytes]) -> Iterator[Inference]:
        """So many pairs, of each label as many as of another, no premise of which is in `seen`, where they
        are added; raises InputError where the grammar has no more.
        """
        rng = stream(self.corpus.seed, "inference", split)
        labels, wanted, failures = cycle(LABELS), number, 0
        label = next(labels)
        while wanted:
            premise, hypothesis = propose(label, self.corpus.inventory, rng)
            known = digest(sentence(premise))
            if label_of(premise, hypothesis) != label or known in seen:
                failures += 1
                if failures == PATIENCE:
                    raise InputError(
                        f"{number} pairs for {split}: the grammar ran out of new ones after {len(seen)} in "
                        "all; ask for fewer pairs or more concepts"
                    )
                continue
            seen.add(known)
            failures, wanted = 0, wanted - 1
            yield Inference(premise, hypothesis, label)
            label = next(labels)

    def record(self, pair: Inference, language: Language) -> str:
        """A pair in a language, as a line of a release."""
        sides = {PREMISE: pair.premise, HYPOTHESIS: pair.hypothesis}
        said = {name: self.corpus.render(sentence(clause), language) for name, clause in sides.items()}
        return json.dumps({LANGUAGE: language.name, LABEL: pair.label} | said)

    def write(self, folder: Path) -> None:
        """Write all files into a folder: text of every language, the pairs to learn from in the first one,
        and pairs to validate and to test on in all.
        """
        corpus, seen = self.corpus, set[bytes]()
        pivot = [corpus.pivot]
        for name, number, languages in (
            ("xnli.test", corpus.test, corpus.languages),
            ("xnli.dev", corpus.valid, corpus.languages),
            ("multinli_1.0_train", corpus.pairs, pivot),
        ):
            pairs = [*self.draw(name, number, seen)]
            lines = (self.record(pair, language) for language in languages for pair in pairs)
            write_lines(folder / f"{name}.jsonl", lines)
        of_text: set[bytes] = set()
        for split, number in (("valid", corpus.valid), ("train", self.sentences)):
            common = round(corpus.multiway_share * number)
            in_all = [*corpus.draw(f"{split} text of all", common, of_text)]
            for language in corpus.languages:
                own = corpus.draw(f"{split} text of {language.name}", number - common, of_text)
                said = (corpus.render(each, language) for each in chain(in_all, own))
                write_lines(folder / f"{split}.{language.name}", said)
        write_lines(folder / LANGUAGES_FILE, [language.name for language in corpus.languages])
        settings = {"version": VERSION} | asdict(self)
        write_lines(folder / "settings.json", json.dumps(settings, indent=2).splitlines())


def sentence(clause: Clause) -> Meaning:
    """A clause as all that a sentence says."""
    return Meaning(clause, conjunction=None, second=None, question=False)


def write_inference(inference: SyntheticInference, folder: Path) -> None:
    """Write all files into a new folder; raises InputError."""
    with new_folder(folder) as part:
        inference.write(part)
