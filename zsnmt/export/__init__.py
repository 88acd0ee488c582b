"""Runs as folders of CTranslate2, which translate exactly as the run does."""
