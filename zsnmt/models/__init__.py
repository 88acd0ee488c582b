"""Registers the models and architectures with fairseq."""

import zsnmt.compatibility  # noqa: F401
from zsnmt.models import zs_bert, zs_transformer  # noqa: F401
