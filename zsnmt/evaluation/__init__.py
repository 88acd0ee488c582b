"""A test set, translated and scored in every direction; how confidence ranks; what a mask lets through."""
