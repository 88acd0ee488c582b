"""The position encodings of an encoder, by the names of options; what reads no model knows them from here."""

# In the order of options, with the names that tables have from Ravishankar and Søgaard (2021, Table 1).
LABELS = {
    "sinusoidal": "Sinusoidal",
    "learned": "Absolute",
    "none": "No positions",
    "tupe_absolute": "TUPE (absolute)",
    "tupe_relative": "TUPE (relative)",
    "relative_key": "Relative (key)",
    "relative_key_query": "Relative (key/query)",
}
ENCODINGS = tuple(LABELS)
POSITION_ENCODINGS = tuple(encoding for encoding in ENCODINGS if encoding != "none")

INPUT_ENCODINGS = ("sinusoidal", "learned")
TUPE = ("tupe_absolute", "tupe_relative")
RELATIVE_KEYS = ("relative_key", "relative_key_query")
