"""Tables of the papers in their own form: a row a data set or condition, with what the paper printed below
it.
"""

# Here, so that a command can list them before it loads what makes them.
NAMES = (
    "liu_table_3",
    "liu_table_4",
    "liu_table_5",
    "liu_table_6",
    "liu_table_7",
    "liu_table_8",
    "liu_table_9",
    "liu_section_5_5",
    "liu_appendix",
    "li_table_1",
    "ravishankar_table_4",
)
