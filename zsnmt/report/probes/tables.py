"""Tables of probes: what linear classifiers find in the states of an encoder, how similar translations are
there, and figures of the states themselves.
"""

from collections.abc import Callable, Mapping, Sequence

from zsnmt.analysis.state_folder import FINAL
from zsnmt.report.probes.findings import (
    CLASSIFIERS,
    LANGUAGE,
    POSITION,
    REFERENCE_ROWS,
    SIMILARITIES,
    TOKEN,
    Finding,
    layer_figure,
    present_figures,
)
from zsnmt.report.probes.folder import Probes
from zsnmt.report.scores import runs_by_system, seeds, short_commit, versions_in_short
from zsnmt.report.table import Cell, Measured, Table, join_sentences, seed_cell


def headlines(found: Sequence[Probes]) -> list[Table]:
    """The tables of the encoder output, of probes that can be compared; none without probes."""
    return tables_with_figures(found, positions_table, similarity_table, figures_table)


def details(found: Sequence[Probes]) -> list[Table]:
    """The tables of every layer and of languages, and what made the probes; none without probes."""
    return tables_with_figures(found, layers_table, confusion_table, runs_table)


def tables_with_figures(
    found: Sequence[Probes], *makers: Callable[[Sequence[Probes]], Table | None]
) -> list[Table]:
    """The tables that there are figures for."""
    tables = [make(found) for make in makers] if found else []
    return [table.without_empty_columns() for table in tables if table is not None]


def positions_table(found: Sequence[Probes]) -> Table | None:
    """Whether the encoder output still says which token stands where, as Table 8 of Liu et al. 2021; None
    if not probed.
    """
    if not {"token", "position"} & {*found[0].classified[FINAL]}:
        return None
    rows = found[0].classified[FINAL].values()
    unseen = [f"{row.label} id, {row.unseen:,}" for row in rows if row.unseen]
    tokens = max(row.rows for row in rows)
    about = join_sentences(
        [
            f"Accuracy of linear classifiers on {tokens:,} held-out tokens of the encoder output (after its "
            "final normalisation): lower means that less of the token and its place is left, as in Liu et "
            "al. 2021, Table 8.",
            f"Always wrong, for want of training tokens: {'; '.join(unseen)}." if unseen else "",
        ]
    )
    title = "Token and position in the encoder output"
    return Table(
        "probe_positions", title, *output_table(found, (TOKEN, POSITION)), about, signatures=settings(found)
    )


def similarity_table(found: Sequence[Probes]) -> Table | None:
    """Whether the encoder output is the same in all languages: Table 9 of Liu et al. 2021; None where neither
    similarity nor the language was probed.
    """
    pairs = found[0].similarities[FINAL]
    if not pairs and "language" not in found[0].classified[FINAL]:
        return None
    about = (
        f"Means over {len(pairs)} pairs of languages of {pairs[0].sentences:,} sentences, each the mean of "
        f"its tokens' states in {pairs[0].dimensions} dimensions: higher means more alike, and so does a "
        "lower accuracy of language id, as in Liu et al. 2021, Table 9. SVCCA depends on the directions "
        "kept: independent states with as many have what stands beside it, Gaussian noise of that size "
        "what stands below it. CKA is debiased; retrieval: how often the nearest sentence of the other "
        "language is the translation."
        if pairs
        else "A lower accuracy of language id means that languages are more alike, as in Liu et al. 2021, "
        "Table 9."
    )
    title = "Languages in the encoder output"
    return Table(
        "probe_similarity",
        title,
        *output_table(found, (*SIMILARITIES, LANGUAGE)),
        about,
        signatures=settings(found),
    )


def figures_table(found: Sequence[Probes]) -> Table | None:
    """What the states of the encoder output are like; None where no figure was computed."""
    figures = present_figures(found)
    if not figures:
        return None
    return Table(
        "probe_figures",
        "Figures of the encoder output",
        *output_table(found, [*map(layer_figure, figures)]),
        join_sentences(figure.about for figure in figures),
        signatures=settings(found),
    )


def output_table(found: Sequence[Probes], findings: Sequence[Finding]) -> tuple[list[str], list[list[Cell]]]:
    """Columns, and one row per system and per reference that one of them has."""
    rows: list[list[Cell]] = [
        [system, seeds(runs), *(finding.over_seeds(runs, FINAL) for finding in findings)]
        for system, runs in runs_by_system(found).items()
    ]
    for name in REFERENCE_ROWS:
        references = [finding.reference(name, found, FINAL) for finding in findings]
        if any(references):
            rows.append([name, None, *references])
    return ["system", "seeds", *(finding.title for finding in findings)], rows


def layers_table(found: Sequence[Probes]) -> Table:
    """One row per layer and system."""
    findings = (*CLASSIFIERS, *SIMILARITIES, *map(layer_figure, present_figures(found)))
    rows = [
        [layer, system, residual(runs[0], layer), *(finding.over_seeds(runs, layer) for finding in findings)]
        for layer in found[0].record["layers"]
        for system, runs in runs_by_system(found).items()
    ]
    about = (
        "Layer 0 is the embedding with its position, final the last layer's output after the final "
        "normalisation."
    )
    columns = ["layer", "system", "residual", *(finding.title for finding in findings)]
    return Table(
        "probe_layers", "Every layer", columns, rows=rows, about=about, headers=2, signatures=settings(found)
    )


def residual(one: Probes, layer: str) -> str | None:
    """Whether the attention of a layer has lost its residual."""
    return "removed" if layer in map(str, one.record["removed_layers"]) else None


def confusion_table(found: Sequence[Probes]) -> Table | None:
    """Which language the classifier of the encoder output takes tokens of each language for; None without
    that one.
    """
    if not found[0].confusions[FINAL]:
        return None
    languages = found[0].record["languages"]

    def shares(runs: Sequence[Probes], true: str) -> list[Measured | None]:
        return [
            seed_cell("accuracy", of_seeds)
            for of_seeds in zip(*(one.confusions[FINAL][true] for one in runs))
        ]

    rows = [
        [system, true, *shares(runs, true)]
        for system, runs in runs_by_system(found).items()
        for true in languages
    ]
    about = (
        "Share of the held-out tokens of a true language that is taken for each language; a row adds up "
        "to 100 %."
    )
    title = "How languages are confused in the encoder output"
    return Table(
        "probe_confusion",
        title,
        ["system", "true", *languages],
        rows=rows,
        about=about,
        headers=2,
        signatures=settings(found),
    )


def runs_table(found: Sequence[Probes]) -> Table:
    """What made the probes of each run."""
    rows: list[list[Cell]] = [
        [
            one.record["system"],
            str(one.record["seed"]),
            short_commit(one.record["commit"]),
            versions_in_short(one.record["versions"]),
            one.record["command"],
        ]
        for one in found
    ]
    return Table(
        "probe_runs",
        "How the probes were made",
        ["system", "seed", "commit", "versions", "command"],
        rows=rows,
        about="",
        headers=2,
    )


def settings(found: Sequence[Probes]) -> str:
    """What every figure depends on."""
    said = found[0].record
    procedure = f"{said['kind']} procedure" + ", whole sentences" * (said["batches"] == "sentences")
    lines = number_of_each(said["held_out_lines"], "lines of each language")
    measured = f", measured on text {said['held_out_text']}, {lines}"
    return (
        f"Text {said['text']}, split {said['split']}, {number_of_each(said['sentences'], 'sentences')} in "
        f"{', '.join(said['languages'])}; classifiers: {procedure}, "
        f"{number_of_each(said['train_lines'], 'training lines of each language')}"
        f"{measured * (said['held_out_text'] != said['text'])}; seed {said['probe_seed']}."
    )


def number_of_each(number: int | Mapping[str, int], things: str) -> str:
    """A number that languages have in common, or the number of each."""
    if isinstance(number, int):
        return f"{number:,} {things}"
    return f"{', '.join(f'{of_one:,} ({language})' for language, of_one in number.items())} {things}"
