"""Multilingual zero-shot neural machine translation: a plug-in for fairseq (`--user-dir zsnmt`)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

# What fairseq imports for classifiers and speech. It takes as long as all the rest of fairseq.
DEFERRED = ("sklearn", "sklearn.metrics", "scipy.stats")


def register() -> None:
    """Make fairseq know the architectures, tasks, criterions and optimisers; what loads or builds a model
    calls it.
    """
    for folder in ("criterions", "models", "optim", "tasks"):
        import_module(f"zsnmt.{folder}")


class DeferredModule(ModuleType):
    """Stands for a module of functions, and imports it when one of them is called."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if (inner := f"{self.__name__}.{name}") in DEFERRED:
            return sys.modules[inner]

        def function(*arguments: object, **settings: object) -> object:
            return getattr(import_module(self.__name__), name)(*arguments, **settings)

        return function


@contextmanager
def deferred(names: tuple[str, ...]) -> Iterator[None]:
    """Modules that what is imported meanwhile imports in name only; those that are there already stay."""
    stand_ins = {name: DeferredModule(name) for name in names if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, module in stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


class FairseqFinder:
    """Finds fairseq as Python does, and defers what it does not need here."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != "fairseq":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return None
        spec.loader = copy(spec.loader)  # which may load other modules too
        load = spec.loader.exec_module

        def load_without(module: ModuleType) -> None:
            with deferred(DEFERRED):
                load(module)

        vars(spec.loader)["exec_module"] = load_without
        return spec


# fairseq imports this package for `--user-dir`; a script that needs no fairseq does not wait for it.
if "fairseq" in sys.modules:
    register()
else:
    sys.meta_path.insert(0, FairseqFinder())
