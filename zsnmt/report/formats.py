"""What a page of the report shows unless told, and what its tables and figures are also written as."""

from zsnmt.report.table import markdown_table, tsv

TABLE_FORMATS = {"md": markdown_table, "tsv": tsv}
FIGURE_FORMATS = ("png", "svg")
EXAMPLES = 8  # of each direction
EXAMPLES_SEED = 1  # by which they are chosen
