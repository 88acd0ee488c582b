"""COMET (Rei et al. 2020), a learned measure, where its package is installed; the project does without it."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version

from zsnmt.errors import InputError

MODEL = "Unbabel/wmt22-comet-da"
PACKAGE = "unbabel-comet"
SENTENCES = 16  # in a batch


class Comet:
    """A COMET model, fetched when first used; `InputError` where the package is missing, and for a model that
    cannot be fetched.
    """

    def __init__(self, name: str = MODEL) -> None:
        download_model, load_from_checkpoint = load_package()
        try:
            checkpoint = download_model(name)
        except Exception as error:  # the package raises a KeyError for whatever goes wrong
            raise InputError(
                f"the COMET model {name} cannot be fetched ({' '.join(str(error).split())}); correct its "
                "name, or go online"
            ) from error
        self.model = load_from_checkpoint(checkpoint)
        self.signature = f"{name}|version:{version(PACKAGE)}"

    def score(self, sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]) -> float:
        """The score of a set: about 0–1 for the default model, higher is better; not to be trusted on
        off-target output.
        """
        import torch

        triples = [
            dict(src=source, mt=hypothesis, ref=reference)
            for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
        ]
        predicted = self.model.predict(
            triples, batch_size=SENTENCES, gpus=int(torch.cuda.is_available()), progress_bar=False
        )
        return float(predicted.system_score)


def load_package() -> tuple[Callable, Callable]:
    """What the package fetches and loads a model with; `InputError`, which says how to install it, where it
    is missing.
    """
    try:
        from comet import download_model, load_from_checkpoint
    except ImportError as error:
        raise InputError(
            f"COMET is not installed ({error}); install it with: pip install {PACKAGE}"
        ) from error
    return download_model, load_from_checkpoint


@lru_cache(maxsize=1)
def load_comet(name: str) -> Comet:
    """A COMET model, loaded once."""
    return Comet(name)
