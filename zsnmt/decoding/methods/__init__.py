"""Ways of translating that need no training: several sources or tags at once, samples, and masks of
the vocabulary."""
