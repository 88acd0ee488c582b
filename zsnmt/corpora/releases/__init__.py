"""Corpora of others: fetched, unpacked, and read as parallel text."""
