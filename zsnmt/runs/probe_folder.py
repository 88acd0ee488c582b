"""The files of the folder `probes` of a run, which the probes write and reports read."""

PROBES = "probes"  # the folder
PROBE_RECORD = "record.json"
TABLES = SIMILARITY, FIGURES, CLASSIFIERS, CONFUSION = (
    "similarity.tsv",
    "layer_figures.tsv",  # which probes without stored states lack, and older ones
    "classifiers.tsv",
    "classifiers.confusion.tsv",
)
