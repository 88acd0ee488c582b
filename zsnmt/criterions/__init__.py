"""Registers the criterions with fairseq."""

from zsnmt.criterions import chunked_label_smoothed_cross_entropy, zs_cross_entropy  # noqa: F401
