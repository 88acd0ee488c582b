"""Languages made up here, with known grammar and kinship, and text in them."""
