"""What tables and figures of the report are also written as, beside the page."""

from zsnmt.report.table import markdown_table, tsv

TABLE_FORMATS = {"md": markdown_table, "tsv": tsv}
FIGURE_FORMATS = ("png", "svg")
