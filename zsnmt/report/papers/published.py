"""What the papers print: every figure with its paper, table, row and column, from `published.tsv`.

The names of a row's parts, such as data set and model, stand with " / " between. Values are as they are
printed.
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

LIU, LI, RAVISHANKAR = "Liu et al. 2021", "Li 2019", "Ravishankar and Søgaard 2021"
FILE = Path(__file__).with_name("published.tsv")
Key = tuple[str, ...]  # the parts of a row's name


@cache
def published() -> Mapping[tuple[str, str], Mapping[Key, Mapping[str, str]]]:
    """The values by paper and table, row, and column, in the order of the papers."""
    found: dict[tuple[str, str], dict[Key, dict[str, str]]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            rows = found.setdefault((line["paper"], line["table"]), {})
            rows.setdefault(tuple(line["row"].split(" / ")), {})[line["column"]] = line["value"]
    return found
