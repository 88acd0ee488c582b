"""Documents: what a person writes, cut into sentences to translate, and put together again as it was."""
