"""What is known of a corpus before training, in Markdown: what its text keeps through a pipeline, and what
overlaps.
"""

from collections.abc import Mapping

from zsnmt.report.scores import short_commit


def round_trip_table(measured: dict) -> str:
    """What a text pipeline gives back of real sentences, by language, in Markdown; see
    `zsnmt.text.round_trip`.
    """
    columns = ["respelt", "exact", "spaced", "recased", "lost"]
    lines = [
        f"| language | tokenisation | sentences | {' | '.join(columns)} |",
        f"|---|---|---:|{'---:|' * len(columns)}",
    ]
    for language, row in measured["languages"].items():
        shares = " | ".join(f"{row[column]:.2f} %" for column in columns)
        lines.append(f"| {language} | `{row['kind']}` | {row['sentences']:,} | {shares} |")
    return "\n".join([*lines, "", f"Commit {short_commit(measured['commit'])}, {measured['units']}."])


def overlap_table(corpora: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Training pairs of each corpus that have a held-out sentence, in Markdown; counts by pair as in
    overlap.json.
    """
    lines = [
        "| corpus | pairs of languages | training pairs | with a validation sentence | with a test sentence "
        "| left out |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for corpus, pairs in corpora.items():
        sums = (
            sum(counts[column] for counts in pairs.values())
            for column in ("lines", "valid", "test", "removed")
        )
        lines.append(f"| {corpus} | {len(pairs)} | {' | '.join(f'{number:,}' for number in sums)} |")
    return "\n".join(lines)
