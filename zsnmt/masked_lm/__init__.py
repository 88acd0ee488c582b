"""The study of masked language models: their data, training runs, scores and tables."""
