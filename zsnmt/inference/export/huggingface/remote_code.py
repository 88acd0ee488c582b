"""The code of a folder: files of zsnmt that are the same there, side by side, and import one another."""

import ast
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

NOTICE = "# A file of zsnmt, MIT licence, copyright (c) 2026 the zsnmt authors.\n"
IMPORT = re.compile(r"^from zsnmt(?:\.\w+)*\.(\w+) import ", re.MULTILINE)


def write_code(folder: Path, modules: Iterable[str]) -> None:
    """Copy modules, and what of zsnmt they import, into a folder."""
    entries = [*modules]
    for module in collect_imports(entries):
        text = make_imports_relative(source_of(module))
        if module in entries:  # transformers 4 takes along what a file of a local folder imports itself
            names = {name.rpartition(".")[2] for name in collect_imports([module])}
            lacking = names - {*re.findall(r"^from \.(\w+) import", text, re.MULTILINE), last_part(module)}
            text += "".join(f"from .{name} import __name__ as _  # noqa\n" for name in sorted(lacking))
        (folder / f"{last_part(module)}.py").write_text(NOTICE + text, encoding="utf-8")


def last_part(module: str) -> str:
    """The name of a module in the folder."""
    return module.rpartition(".")[2]


def source_of(module: str) -> str:
    """The text of a module."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def collect_imports(modules: Iterable[str]) -> list[str]:
    """The modules with all that they import of zsnmt, each once."""
    waiting, found = [*modules], dict[str, None]()
    while waiting:
        module = waiting.pop()
        if module not in found:
            found[module] = None
            tree = ast.parse(remove_type_imports(source_of(module)))
            imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
            waiting += [node.module for node in imports if node.module and node.module.startswith("zsnmt.")]
    return [*found]


def make_imports_relative(text: str) -> str:
    """The text of a module whose imports of zsnmt are of files beside it."""
    return IMPORT.sub(r"from .\1 import ", remove_type_imports(text))


def remove_type_imports(text: str) -> str:
    """The text of a module without what only checkers of types import."""
    lines = text.splitlines(keepends=True)
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            del lines[node.lineno - 1 : node.end_lineno]
    return "".join(lines)
