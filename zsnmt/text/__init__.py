"""From sentences to what a model reads, and back again."""
