"""CTranslate2, which not everyone has."""

import importlib
from types import ModuleType

from zsnmt.errors import InputError

VERSION = "4.8.5"  # that what is known of its layers was tested with


def ctranslate2() -> ModuleType:
    """The library; `InputError` where it is not installed."""
    try:
        return importlib.import_module("ctranslate2")
    except ImportError:
        raise InputError(
            f"CTranslate2 is not installed; run pip install ctranslate2=={VERSION}, or translate with "
            "--engine pytorch"
        ) from None
