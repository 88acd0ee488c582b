"""Ways of translating that need no training: several sources or tags at once, and masks of the vocabulary."""
