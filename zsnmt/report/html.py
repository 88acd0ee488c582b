"""What pages are made of: templates, drawings as safe markup, and files that are whole or not there."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from zsnmt.files.replacing import replacing
from zsnmt.languages import Direction
from zsnmt.report import figures
from zsnmt.report.plotted import HeatMap
from zsnmt.report.table import format_cell

MOST_DRAWN = 20  # languages of a heat map that is a drawing


def templates(folder: Path) -> Environment:
    """The templates of a folder, with the style and the script that all pages include."""
    environment = Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = format_cell
    return environment


def drawn_maps(maps: Sequence[HeatMap], numbers: str) -> dict[str, list[dict]]:
    """The heat maps of each system: title, drawing as safe markup, and whether it is `further`; `numbers`
    says where they are to be read.
    """
    drawn: dict[str, list[dict]] = {}
    for place, cells in enumerate(maps):
        label = f"{cells.title}, {cells.system}, {cells.down} by {cells.across}; the numbers are in {numbers}"
        if len(cells.languages) > MOST_DRAWN:
            drawing = matrix(cells, label)
        else:
            drawing = Markup(figures.inline_svg(figures.heat_map(cells), f"{cells.kind}{place}", label))
        drawn.setdefault(cells.system, []).append(
            {"title": cells.title, "drawing": drawing, "further": cells.further}
        )
    return drawn


def matrix(cells: HeatMap, label: str) -> Markup:
    """A heat map as a table, which is smaller than a drawing, and whose languages stay in sight."""
    rows = [
        (source, [figures.cell_of(cells, Direction(source, target)) for target in cells.languages])
        for source in cells.languages
    ]
    template = templates(Path(__file__).parent).get_template("matrix.html.jinja")
    return Markup(template.render(cells=cells, rows=rows, label=label))


def inline_figures(named: Sequence[tuple[str, str, Figure]], where: str = "") -> list[dict]:
    """Figures with their names and titles, as safe markup; `where` their numbers are to be read."""
    return [
        {
            "name": name,
            "title": title,
            "drawing": Markup(figures.inline_svg(figure, name, "; ".join(filter(None, [title, where])))),
        }
        for name, title, figure in named
    ]


def write(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it."""
    with replacing(path) as file:
        file.write(content)


def write_drawings(folder: Path, named: Sequence[tuple[str, str, Figure]]) -> list[Path]:
    """Write figures by their names and titles into a folder, as PNG and as SVG; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        folder / f"{name}.{ending}": content
        for name, title, figure in named
        for ending, content in (("png", figures.png(figure)), ("svg", figures.svg(figure, title)))
    }
    for path, content in contents.items():
        write(path, content)
    return [*contents]
