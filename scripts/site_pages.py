"""The pages at the root of the checkout, as pages of the documentation site (a hook of mkdocs.yml).

README.md and its like stay where people look for them; here they become pages beside those of docs/. Links
between the two are turned to the site's pages, those to files that no page is of to the files' names.
"""

import re
from pathlib import Path
from posixpath import dirname, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
AT_ROOT = {  # the page of each; README.md would be the first page of its folder
    "README.md": "readme.md",
    **{name: name for name in ("RESULTS.md", "CONTRIBUTING.md", "CHANGELOG.md", "THIRD_PARTY_NOTICES.md")},
}
PICTURE = re.compile(r"(!\[[^\]]*\]\()docs/")
LINK = re.compile(  # or code, which has none
    r"^```.*?^```|(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)|`[^`\n]+`",
    re.DOTALL | re.MULTILINE,
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of the root."""
    for name, page in AT_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=PICTURE.sub(r"\1", text)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns the links of a page, and lets Markdown stand in what is folded."""
    place = page.file.src_uri
    below = "" if place in AT_ROOT.values() else "docs"

    def turned(link: re.Match) -> str:
        text, target = link["text"], link["target"]
        if target is None or re.match(r"[a-z]+:|#", target):
            return link[0]
        path, mark, anchor = target.partition("#")
        wanted = normpath(f"{below}/{dirname(place)}/{path}" if below else path)
        here = AT_ROOT.get(wanted) or (wanted.removeprefix("docs/") if wanted.startswith("docs/") else "")
        if here and files.get_file_from_path(here):
            return f"[{text}]({relpath(here, dirname(place) or '.')}{mark}{anchor})"
        if not (ROOT / wanted).exists():
            raise FileNotFoundError(f"{place} links to {target}, which does not exist")
        return text if "`" in text else f"{text} (`{wanted}`)"

    return LINK.sub(turned, markdown.replace("<details>", '<details markdown="1">'))
