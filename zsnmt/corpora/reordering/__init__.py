"""Real sentences in the word order of another language (Galactic Dependencies)."""
