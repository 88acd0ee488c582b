"""A page for each config with kept results: all that there is, in blocks that `zsnmt results` fills."""

from pathlib import Path
from urllib.parse import quote  # of a link, which ends at a space

from zsnmt.report.documents import Maker, kept_scores
from zsnmt.report.systems import STUDY_TABLES

FORMS = {
    "": "*.seed*.json",
    ":probes": "probes/*.seed*.json",
    ":confidence": "confidence/*.seed*.json",
    ":compression": "compression/*.seed*.json",
    ":xnli": "xnli/*.seed*.json",
}


def configs_without_page(folder: Path) -> list[str]:
    """The configs with kept results that no page is of."""
    return [
        path.name
        for path in sorted(folder.iterdir())
        if path.is_dir() and forms_of(folder, path.name) and not (folder / f"{path.name}.md").is_file()
    ]


def list_of_pages(folder: Path, _: str) -> str:
    """The pages of configs, as a Markdown list."""
    pages = [path.name for path in sorted(folder.glob("*.md")) if forms_of(folder, path.stem)]
    return "\n".join(f"* [{page.removesuffix('.md')}]({quote(page)})" for page in pages)


def new_page(folder: Path, config: str) -> str:
    """A page with a block for everything that is kept of a config; people may write around the blocks."""
    blocks = [
        f"<!-- begin {config}{form} -->\n<!-- end {config}{form} -->" for form in forms_of(folder, config)
    ]
    head = f"# {config}", f"The runs of [configs/{config}.conf](../../configs/{quote(config)}.conf)."
    return "\n\n".join([*head, *blocks]) + "\n"


def forms_of(folder: Path, config: str) -> list[str]:
    """The forms of blocks that there are results for, those of studies among them."""
    found = [form for form, files in FORMS.items() if any((folder / config).glob(files))]
    if "" in found:
        scores = kept_scores(folder, config)
        found += [f":{study}" for study, table in STUDY_TABLES.items() if table(scores) is not None]
    return found


MAKERS: dict[str, Maker] = {"config_pages": list_of_pages}
