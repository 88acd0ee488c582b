"""Corpora: text in, text out, by the parallel-text contract."""
