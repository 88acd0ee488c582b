"""Runs as folders of CTranslate2."""
