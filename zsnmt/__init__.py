"""Multilingual zero-shot neural machine translation: a plug-in for fairseq (`--user-dir zsnmt`)."""

import sys
from importlib import import_module


def register() -> None:
    """Make fairseq know the architectures, tasks, criterions and optimisers; what loads or builds a model
    calls it.
    """
    for folder in ("criterions", "models", "optim", "tasks"):
        import_module(f"zsnmt.{folder}")


# fairseq imports this package for `--user-dir`; a script that needs no fairseq does not wait for it.
if "fairseq" in sys.modules:
    register()
