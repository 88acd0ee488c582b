"""Runs as folders of other engines, which translate exactly as the run does."""
