"""What the project says of licences: its own, of what it carries and needs, and of text that it fetches."""

import ast
import re
from itertools import chain

import pytest
import yaml

from tests.conftest import ROOT
from zsnmt.corpora.releases.catalogue import CATALOGUE

LICENCES = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
TOOLS = ("test", "docs")  # extras of who works on zsnmt


def settings_of_setup():
    """The arguments of `setup` that are written as values."""
    call = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")).body[-1].value
    found = {}
    for keyword in call.keywords:
        try:
            found[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return found


def test_the_citation_names_the_version_and_the_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    setup = settings_of_setup()
    assert citation["version"] == setup["version"] and citation["license"] == setup["license"] == "MIT"
    assert [name["name"] for name in citation["authors"]] == [setup["author"]]
    first_authors = [paper["authors"][0]["family-names"] for paper in citation["references"]]
    assert [*zip(first_authors, (paper["year"] for paper in citation["references"]))] == [
        ("Liu", 2021),
        ("Ravishankar", 2021),
        ("Li", 2019),
    ]
    assert all(paper["title"] and paper["type"] for paper in citation["references"])


def test_every_dependency_stands_in_the_table_of_licences():
    settings = settings_of_setup()
    of_extras = (packages for extra, packages in settings["extras_require"].items() if extra not in TOOLS)
    requirements = chain(settings["install_requires"], *of_extras)
    packages = {re.split("[=<>]", package)[0] for package in requirements}
    table = LICENCES.split("## The text")[0].replace("; of extras ", ", ")
    named = {
        name.split(" (")[0] for row in re.findall(r"\| ([^|]*) \|$", table, re.M) for name in row.split(", ")
    }
    assert packages <= named


@pytest.mark.parametrize("corpus", CATALOGUE)
def test_every_corpus_that_is_fetched_has_its_terms(corpus):
    terms = re.findall(
        r"CC [A-Z][A-Z-]*(?: \d\.\d)?|public domain|non-commercial|no licence", CATALOGUE[corpus].licence
    )
    assert terms and all(term in LICENCES for term in terms)


def test_methods_that_restate_fairseq_are_in_the_notices():
    notices = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    restating = [
        path.name
        for path in (ROOT / "zsnmt").rglob("*.py")
        if "A restatement of the stock method" in path.read_text(encoding="utf-8")
    ]
    assert restating and all(f"`{name}`" in notices for name in restating)
