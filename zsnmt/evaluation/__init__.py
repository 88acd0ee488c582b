"""A test set, translated and scored in every direction."""
