"""What is known of a corpus before training, in Markdown: what its text keeps through a pipeline, and what
overlaps.
"""

from collections.abc import Mapping

from zsnmt.report.scores import short_commit
from zsnmt.report.table import markdown_grid


def round_trip_table(measured: dict) -> str:
    """What a text pipeline gives back of real sentences, by language, in Markdown; see
    `zsnmt.text.round_trip`.
    """
    shares = ["respelt", "exact", "spaced", "recased", "lost"]
    rows = [
        [language, f"`{row['kind']}`", f"{row['sentences']:,}", *(f"{row[share]:.2f} %" for share in shares)]
        for language, row in measured["languages"].items()
    ]
    numbers = [False, False, *[True] * (1 + len(shares))]
    table = markdown_grid(["language", "tokenisation", "sentences", *shares], rows, numbers)
    return f"{table}\n\nCommit {short_commit(measured['commit'])}, {measured['units']}."


def overlap_table(corpora: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Training pairs of each corpus that have a held-out sentence, in Markdown; counts by pair as in
    overlap.json.
    """
    columns = {  # titles, by what they are in overlap.json
        "lines": "training pairs",
        "valid": "with a validation sentence",
        "test": "with a test sentence",
        "removed": "left out",
    }
    rows = [
        [
            *(corpus, str(len(pairs))),
            *(f"{sum(counts[column] for counts in pairs.values()):,}" for column in columns),
        ]
        for corpus, pairs in corpora.items()
    ]
    numbers = [False, *[True] * (1 + len(columns))]
    return markdown_grid(["corpus", "pairs of languages", *columns.values()], rows, numbers)
