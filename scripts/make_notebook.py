"""Makes docs/tutorial.ipynb of docs/tutorial.md: text as it is, commands as cells that bash runs.

python scripts/make_notebook.py
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL, NOTEBOOK = ROOT / "docs" / "tutorial.md", ROOT / "docs" / "tutorial.ipynb"
ACTIVATE = "source .venv/bin/activate\n"
START = """\
import os

os.chdir("..")  # the folder of the checkout
os.environ["PATH"] = os.path.abspath(".venv/bin") + os.pathsep + os.environ["PATH"]
"""
COMMANDS = re.compile(r"^```bash\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def notebook(text: str) -> dict:
    """The notebook of a page, as nbformat 4.5 has it."""
    cells = []
    for number, part in enumerate(COMMANDS.split(text)):
        if part == ACTIVATE:
            cells.append(code(START))
        elif number % 2:
            cells.append(code(f"%%bash\n{part}"))
        elif part.strip():
            cells.append({"cell_type": "markdown", "metadata": {}, "source": lines(part)})
    return {
        "cells": [cell | {"id": f"cell{number}"} for number, cell in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def code(source: str) -> dict:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": lines(source),
    }


def lines(source: str) -> list[str]:
    return source.strip().splitlines(keepends=True)


if __name__ == "__main__":
    made = notebook(TUTORIAL.read_text(encoding="utf-8"))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
