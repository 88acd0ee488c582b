"""Experiments: their configs, the steps that are done once, binarised data, and the systems of studies."""
