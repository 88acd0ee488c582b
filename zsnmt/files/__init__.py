"""Files: written whole, known by their checksums, read with a sentence for what is wrong with them."""
