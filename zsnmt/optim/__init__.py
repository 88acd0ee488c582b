"""Registers the optimisers with fairseq."""

from zsnmt.optim import fused_adam  # noqa: F401
