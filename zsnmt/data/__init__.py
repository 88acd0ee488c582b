"""Between text and the numbers that models read: language tags, reading, data sets."""
