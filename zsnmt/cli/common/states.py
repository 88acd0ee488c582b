"""What the verbs have in common that make a table of states."""

from pathlib import Path

from zsnmt import console


def add_states_and_table(parser: console.Parser) -> None:
    """Add the folder of states, and the table that is made of it."""
    parser.add_argument("states", type=Path, help="folder made by zsnmt probe-states")
    parser.add_argument(
        "output",
        type=console.file_of_new_folder,
        help="TSV to write; one that is there is replaced at the end",
    )
