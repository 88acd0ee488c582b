"""The score files that the project keeps."""

from tests.conftest import ROOT

# One folder a config; the probes of a config lie in a folder below it.
CONFIGS = sorted({path.parent.name for path in (ROOT / "docs" / "results").glob("*/*.seed*.json")})
