"""Experiments: their configs, the steps that are done once, and training itself."""
