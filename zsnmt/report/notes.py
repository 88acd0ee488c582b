"""What stands under a table: what its figures depend on, and what they are of."""

from collections.abc import Iterable, Sequence

from zsnmt.decoding.length_penalty import GNMT
from zsnmt.languages import KINDS, SUPERVISED, kind_name
from zsnmt.report.scores import runs_by_system, seeds
from zsnmt.report.table import FORMS, join_sentences
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, PIVOT, Way


def signature_note(all_scores: Sequence[Scores]) -> str:
    """What every figure depends on: signatures and seeds."""
    first = all_scores[0]
    listed = "; ".join(f"{system} seed {seeds(runs)}" for system, runs in runs_by_system(all_scores).items())
    return join_sentences([signatures(first, first.signatures), f"Runs: {listed}."])


def signatures(scores: Scores, figures: Iterable[str]) -> str:
    """What some figures depend on, as far as it is known."""
    titles, known = {figure: form.title for figure, form in FORMS.items()}, scores.signatures
    found = "; ".join(
        f"{titles.get(figure, figure)}: {known[figure]}" for figure in figures if figure in known
    )
    return found and f"{found}."


def caption(all_scores: Sequence[Scores]) -> str:
    """What the figures are: directions, metric, identifier and its error, search."""
    first = all_scores[0]
    error = max(result.figures["reference_error"] for scores in all_scores for result in scores.results)
    notes = lines_note(first), overlap_note(first), elsewhere_note(all_scores)
    return (
        f"BLEU (sacreBLEU {first.signatures['bleu']}), means over {describe_directions(all_scores)}; "
        "off-target: share of outputs in another language than asked for, by "
        f"{first.signatures['off_target']} (wrong on at most {100 * error:.1f} % of the references of a "
        f"direction); {search_note(first)}.{''.join(notes)}"
    )


def describe_directions(all_scores: Sequence[Scores]) -> str:
    """How many directions of each kind there are to the first system, and to others where that is not the
    same.
    """
    systems = {system: count_directions(first) for system, (first, *_) in runs_by_system(all_scores).items()}
    first, *_ = systems.values()
    others = [f"; to {system} {counted}" for system, counted in systems.items() if counted != first]
    return first + "".join(others)


def count_directions(scores: Scores) -> str:
    """How many directions of each kind there are, and in which other ways than directly they were decoded."""
    numbers = {
        kind: len({result.direction for result in scores.results if result.kind == kind}) for kind in KINDS
    }
    counted = [
        f"{number} {kind_name(kind)}" for kind, number in numbers.items() if number or kind == SUPERVISED
    ]
    listed = with_and(counted)
    directions = f"{listed} direction{'s' * (sum(numbers.values()) != 1)}"
    others = [(kind, way) for kind, way in scores.groups if way != DIRECT]
    if not others:
        return directions
    which = (
        "the latter"
        if {kind for kind, _ in others} == {scores.groups[-1][0]} and len(counted) > 1
        else "some"
    )
    ways = dict.fromkeys(way_title(way, scores.pivot) for _, way in others)
    return f"{directions}, {which} also {', '.join(ways)}"


def with_and(words: Sequence[str]) -> str:
    """One word or more as a sentence has them: `one, two and three`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def way_title(way: Way, pivot: str) -> str:
    """A way of decoding as text: `direct`, `through en`, `by mask (keep 0.9)`."""
    return f"through {pivot}" if way == PIVOT else way.phrase or way.label


def search_note(scores: Scores) -> str:
    """Beam, length penalty and engine, the latter two where they are not fairseq's; of translations that were
    made elsewhere nobody knows them.
    """
    decoding = scores.decoding
    if "beam" not in decoding:
        return "search unknown"
    penalty, form = decoding.get("length_penalty", 1.0), decoding.get("length_penalty_form")
    named = f", length penalty {penalty}{' in the form of GNMT' * (form == GNMT)}"
    engine = f", by {decoding['engine']}" if "engine" in decoding else ""
    if "pivot_engine" in decoding:
        engine += f", through the pivot by {decoding['pivot_engine']}"
    return f"beam {decoding['beam']}{named if form or penalty != 1.0 else ''}{engine}"


def elsewhere_note(all_scores: Iterable[Scores]) -> str:
    """Which systems another toolkit translated with, where there are some, and what is not known of them."""
    systems = dict.fromkeys(scores.system for scores in all_scores if scores.made_elsewhere)
    unknown = "whose search, training text and overlap with the test set are unknown"
    return f" By another toolkit, {unknown}: {', '.join(systems)}." if systems else ""


def pivot_note(all_scores: Sequence[Scores]) -> str:
    """Which run translates through the pivot, where it is not the system itself."""
    others, pivots = [scores for scores in all_scores if scores.pivot_by], pivots_of(all_scores)
    if len(others) > 1 and len(pivots) == 1 and ", seed " not in (pivot := pivots.pop()):
        systems = ", ".join(dict.fromkeys(scores.system for scores in others))
        return f" Through the pivot: {systems}, by {pivot} of the same seed."
    by = [f"{scores.system}, seed {scores.seed}, by {scores.pivot_by}" for scores in others]
    return f" Through the pivot: {'; '.join(by)}." if by else ""


def pivots_of(runs: Iterable[Scores]) -> set[str]:
    """What translates through the pivot for some of the runs; its seed is theirs unless one is named."""
    return {scores.pivot_by.removesuffix(f", seed {scores.seed}") for scores in runs if scores.pivot_by}


def have_one_pivot(runs: Iterable[Scores]) -> bool:
    """Whether one system translates through the pivot for all runs, itself or for others: those of several
    systems then have the same translations, and a mean over those of one system is of something.
    """
    runs = [*runs]
    return len(pivots_of(runs) | {scores.system for scores in runs if not scores.pivot_by}) == 1


def lines_note(scores: Scores) -> str:
    """How much of the test set was scored, where it was not all."""
    lines = scores.decoding.get("lines")
    return f" Only the first {lines} lines of the test set are scored." if lines else ""


def overlap_note(scores: Scores) -> str:
    """What the overlap check found before training, where it was run."""
    if not (pairs := scores.overlap.values()):
        return ""
    removed, lines = (sum(of_pair[count] for of_pair in pairs) for count in ("removed", "lines"))
    return (
        f" Of {lines:,} training pairs {removed:,} had a sentence of the validation or test sets and "
        "were left out."
    )
