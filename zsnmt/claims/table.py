"""The claims as Markdown: one row for each, how many came out how, and every figure behind them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from zsnmt.claims.claim import Claim
from zsnmt.claims.kept_results import Kept
from zsnmt.claims.needs import Need
from zsnmt.claims.papers import CLAIMS
from zsnmt.claims.verdicts import (
    COMPARED,
    DEPENDS,
    FAILS,
    HOLDS,
    MOST,
    OPEN,
    OPPOSED,
    OPPOSES,
    SUPPORTS,
    UNDECIDED,
    UNTESTED,
    VERDICTS,
    WEAKLY,
    Effect,
    Range,
    clause_verdicts,
    configs_of,
    seeds_that_tell,
    seeds_to_decide,
    verdict,
)
from zsnmt.files.project import RESULTS
from zsnmt.report.documents import Maker
from zsnmt.report.scores import words
from zsnmt.report.table import FORMS, Cell, Measured, Table, markdown_rows

DETAILS = "claims.md"
TITLES = ["", "claim", "the paper", "here", "verdict"]
POWER_TITLES = ("deviation", "seeds for the paper's", "seeds that tell")
FEW = 3  # figures that the row of a claim shows one by one
ABOVE, INSIDE, BELOW = "above", "inside", "below"  # the interval of our figure
NO_NUMBER, LONGER = f"more than {MOST}", "longer trainings"


class Outcome(NamedTuple):
    """A claim with what the kept results say of it."""

    claim: Claim
    effects: Sequence[Effect]

    @property
    def verdict(self) -> str:
        """What follows, by the rule."""
        return verdict(self.effects, self.claim.range, self.claim.clauses)

    def wanted(self, effect: Effect) -> Range:
        """Where the figure of one config lies if the claim holds."""
        return effect.range or self.claim.range

    def vote(self, effect: Effect) -> str:
        """What one config says."""
        return self.wanted(effect).vote(effect.measured)

    def seeds_of(self, need: Need) -> list[int]:
        """The seeds of a need, and further ones that the figures of its configs have on all sides."""
        seeds = {*need.seeds}
        for effect in self.effects:
            on_all = frozenset.intersection(*map(frozenset, effect.sides))
            common = effect.by_config or dict.fromkeys(configs_of(effect), on_all)
            seeds |= set().union(*(common.get(config.stem, ()) for config in need.configs))
        return sorted(seeds)

    def published(self, effect: Effect) -> list[float]:
        """The paper's figures of its clause in the units of score files."""
        factor = FORMS[effect.measured.figure].factor
        return [float(value) / factor for value in self.claim.published.of(effect.clause)]

    def seeds_to_decide(self, effect: Effect) -> int | None:
        """How many seeds would tell in one config; None where that is not known, where they are very many,
        and where it takes longer trainings, since others of its clause say something in full.
        """
        of_clause = [each for each in self.effects if each.clause == effect.clause]
        if effect.unfinished and any(each.speaks for each in of_clause):
            return None
        return seeds_to_decide(effect, self.wanted(effect))


@cache
def outcomes(folder: Path) -> list[Outcome]:
    """All claims, with what a folder of kept results says of them."""
    kept = Kept(folder)
    return [Outcome(claim, claim.effects(kept)) for claim in CLAIMS]


def claims_table(folder: Path, _: str) -> str:
    """One row for each claim."""
    rows = [row(each) for each in outcomes(folder)]
    return markdown_rows(Table("claims", "Claims", TITLES, rows=rows, about=""))


def row(each: Outcome) -> list[str]:
    """The row of a claim: its figures, or, where they are many, what they say."""
    claim = each.claim
    few = len(each.effects) <= FEW
    here = [*map(short_figure, each.effects)] if few else votes_in_short(each)
    link = f"[{each.verdict}]({RESULTS}/{DETAILS}#{claim.name.lower()})"
    return [
        claim.name,
        claim.text,
        f"{claim.published} ({claim.place})",
        "<br>".join(here) or claim.lacks,
        link,
    ]


def votes_in_short(each: Outcome) -> list[str]:
    """Of each clause how many figures support it, leave it open and oppose it, and from where to where they
    lie.
    """
    found: dict[tuple[str, str], list[Effect]] = defaultdict(list)
    for effect in each.effects:
        part = "" if effect.part == effect.clause else effect.part  # the clause is named before it
        found[effect.clause, each.vote(effect)].append(replace(effect, part=part))
    clauses = dict.fromkeys(clause for clause, _ in found)
    return [
        words(f"{clause}:" if clause else "", vote_in_short(vote, found[clause, vote]))
        for clause in clauses
        for vote in (SUPPORTS, OPEN, OPPOSES)
        if (clause, vote) in found
    ]


def vote_in_short(vote: str, effects: Sequence[Effect]) -> str:
    """The figures that say the same: one in full, of several the lowest and the highest, and how many they
    are.
    """
    number, weak = len(effects), sum(not effect.speaks for effect in effects)
    weakly = "" if vote == OPEN or not weak else " weakly" if weak == number else f", {weak} of them weakly"
    if number == 1:
        return f"{vote}{weakly}: {short_figure(effects[0])}"
    lowest, *_, highest = sorted((effect.measured for effect in effects), key=lambda figure: figure.mean)
    return f"{number} {vote.removesuffix('s')}{weakly}: {lowest.number} to {highest.head}"


def short_figure(effect: Effect) -> str:
    """A figure with its config, its part and the number of its seeds."""
    of = words(f"`{effect.config}`", effect.part, f"×{effect.fewest}")
    return f"{effect.measured} {of}"


def count_verdicts(folder: Path, _: str) -> str:
    """How many claims came out how."""
    numbers = Counter(each.verdict for each in outcomes(folder))
    counted = [(number, WORDS[name]) for name in VERDICTS if (number := numbers[name])]
    listed = ", ".join(f"{number} {said[number > 1]}" for number, said in counted)
    return f"Of {len(CLAIMS)} claims {listed}."


WORDS = {  # of one claim, and of several
    HOLDS: ("holds", "hold"),
    WEAKLY: ("holds weakly", "hold weakly"),
    DEPENDS: ("depends on the text", "depend on the text"),
    UNDECIDED: ("is undecided", "are undecided"),
    OPPOSED: ("is weakly opposed", "are weakly opposed"),
    FAILS: ("does not hold", "do not hold"),
    UNTESTED: ("is not tested", "are not tested"),
}


def details(folder: Path, _: str) -> str:
    """Every claim with every figure behind it."""
    return "\n\n".join(map(detail, outcomes(folder)))


def detail(each: Outcome) -> str:
    """A claim with its figures, what they say, and what is lacking."""
    claim = each.claim
    source = f"{claim.paper}, {claim.place}; there {claim.published}"
    clauses = clause_verdicts(each.effects, claim.range, claim.clauses)
    listed = "; ".join(f"{clause}: {of_clause}" for clause, of_clause in clauses.items())
    outcome = f"**{each.verdict.capitalize()}**" + (
        f" ({listed})" if each.effects and len(clauses) > 1 else ""
    )
    parts = [f"## {claim.name}", f"{outcome}: {claim.text} ({source}).", f"Figure: {claim.what}."]
    if each.effects:
        rows = [
            [
                page_link(effect),
                effect.part or None,
                effect.seeds,
                effect.measured,
                vote_in_words(each, effect),
                beside_published(each, effect),
                *power(each, effect),
            ]
            for effect in each.effects
        ]
        titles = ["config", "part", "seeds", "figure", "says", "the paper's", *POWER_TITLES]
        table = Table("", "", titles, rows=rows, about="")
        parts.append(markdown_rows(table.without_empty_columns()))
    if claim.lacks:
        parts.append(f"{claim.lacks[0].upper()}{claim.lacks[1:]}.")
    if claim.why and each.verdict in (FAILS, OPPOSED):
        parts.append(f"Why: {claim.why}")
    if claim.needs:
        parts.append("Commands: " + "; ".join(need.shown(each.seeds_of(need)) for need in claim.needs) + ".")
    return "\n\n".join(parts)


def beside_published(each: Outcome, effect: Effect) -> Cell:
    """Where the paper's figures lie beside the interval of ours; nothing where one of them is not known."""
    published, interval = each.published(effect), effect.measured.interval
    if not published or interval is None:
        return None
    low, high = interval
    return ABOVE if min(published) > high else BELOW if max(published) < low else INSIDE


def power(each: Outcome, effect: Effect) -> tuple[Cell, Cell, Cell]:
    """How far a run deviates over its seeds, or a difference that is taken seed by seed; how many seeds would
    tell if the figure were the paper's; and of one that is open how many tell, as far as that is known.
    """
    deviation = None if effect.deviation is None else Measured(effect.measured.figure, effect.deviation)
    return deviation, seeds_for_published(each, effect), seeds_that_open_ones_need(each, effect)


def seeds_for_published(each: Outcome, effect: Effect) -> Cell:
    """How many seeds would tell if the figure were the paper's; of several, that in the claim's range which
    is the nearest to its bound.
    """
    wanted = each.wanted(effect)
    distances = [
        wanted.distance(value) for value in each.published(effect) if wanted.low <= value <= wanted.high
    ]
    if not distances or not effect.deviations:
        return None
    return number_of_seeds(seeds_that_tell(min(distances), effect.deviations, chosen_from=effect.chosen_from))


def seeds_that_open_ones_need(each: Outcome, effect: Effect) -> Cell:
    """How many seeds would tell of a figure that is open."""
    if each.vote(effect) != OPEN:
        return None
    number = each.seeds_to_decide(effect)
    if effect.unfinished and number is None:
        return LONGER
    if effect.deviation is None:
        return "two or more"
    return f"{number}, or {LONGER}" if effect.unfinished else number_of_seeds(number)


def number_of_seeds(number: int | None) -> str:
    """As a table shows it."""
    return NO_NUMBER if number is None else str(number)


def page_link(effect: Effect) -> str:
    """The configs of a figure, each a link to its page, which has runs, seeds and commands."""
    return COMPARED.join(f"[{config}]({quote(config)}.md)" for config in configs_of(effect))


def vote_in_words(each: Outcome, effect: Effect) -> str:
    """What a config says, and whether weakly."""
    vote = each.vote(effect)
    weakly = "" if effect.speaks else ", weakly"
    fell = ": the loss still fell" if effect.unfinished and effect.several else ""
    return f"{vote}{'' if vote == OPEN else weakly}{fell}"


MAKERS: dict[str, Maker] = {
    "claims": claims_table,
    "claims_counted": count_verdicts,
    "claims_in_detail": details,
}
