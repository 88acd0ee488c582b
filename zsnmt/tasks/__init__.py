"""Registers the tasks with fairseq."""

import zsnmt.compatibility  # noqa: F401
from zsnmt.tasks import zs_masked_lm, zs_translation  # noqa: F401
