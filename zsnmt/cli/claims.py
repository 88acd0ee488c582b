"""Make the runs that undecided claims of the papers need, and fill the table of claims. The cheapest run that
can decide a claim comes first. Run it again to go on after a stop.

    zsnmt claims --dry-run                     # what would be done, for how long, and how many seeds tell
    zsnmt claims --budget 8 --jobs 2           # what two cores do in eight hours
    zsnmt claims L18 L21
    RUNS=elsewhere zsnmt claims L21 --again    # the runs of a claim from nothing, beside what is kept

Claims are those of docs/results/claims.md. Each job is one command or two of that page, for one seed: three
seeds, and more where so many would tell: ten, or forty within four hours. It prints to runs/claims/, and
its results are kept as zsnmt results keeps them; the tables are made at the end. Hours are estimates,
corrected by the time that earlier jobs took. If the text of a job is not here, or the GPU that it is for, the
list says so. With --again nothing that is kept changes: a table at the end has the kept figures of the same
runs beside the new ones, which are kept in runs/claims/again.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.cli.common.argument_types import hours, positive
from zsnmt.cli.common.recipe import Recipe
from zsnmt.cli.common.words import parse_between
from zsnmt.errors import InputError
from zsnmt.files.project import KEPT_RESULTS, ROOT

if TYPE_CHECKING:
    from zsnmt.training.machine import Machine

AGAIN = "again"  # below the folder of claims: the results that are made once more
MEMORY_OF_JOB = 3  # GB, of a training of the project's sizes


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_between(make_parser(), arguments)
    recipe = Recipe("claims")

    from zsnmt.claims.jobs import do_jobs, make_documents
    from zsnmt.claims.papers import claim_names
    from zsnmt.claims.plan import FOLDER, Places, chains, plan, select_within_budget
    from zsnmt.claims.plan_tables import again_table, jobs_table, power_table, terminal_text
    from zsnmt.claims.table import outcomes
    from zsnmt.training.children import all_side_by_side
    from zsnmt.training.machine import this_machine

    only = claim_names([*options.claims, *options.only])
    machine = this_machine()
    at_a_time = options.jobs or jobs_at_a_time(machine)
    kept = recipe.runs / FOLDER / AGAIN if options.again else KEPT_RESULTS
    places = Places(ROOT, recipe.runs, kept, variables=recipe.variables, gpu=bool(machine.gpu))
    claims = outcomes(KEPT_RESULTS)
    jobs = plan(claims, places, only)
    chosen = select_within_budget(jobs, float("inf") if options.budget is None else options.budget, at_a_time)
    if options.dry_run:
        listed = jobs_table(jobs, chosen, at_a_time)
        print(terminal_text(power_table(claims, only)), terminal_text(listed), sep="\n\n")
        return
    if not chosen:
        recipe.steps.say("nothing is left that can be done here in this time; --dry-run says what is lacking")
        if not options.again:  # what was made again before is shown
            return
    ended: InputError | KeyboardInterrupt | None = None
    try:
        all_side_by_side(
            [partial(do_jobs, recipe.steps, chain, places) for chain in chains(chosen)], at_a_time
        )
    except (InputError, KeyboardInterrupt) as error:
        ended = error
    try:  # also of what was done before a failure or a stop
        if options.again:
            print(terminal_text(again_table(KEPT_RESULTS, kept)))
        else:
            make_documents(recipe.steps, places)
    except InputError as error:
        raise InputError(
            f"{ended}; the tables were not made either: {error}" if ended else str(error)
        ) from error
    if ended:
        raise ended


def jobs_at_a_time(machine: "Machine") -> int:
    """How many jobs keep a machine busy that has memory for them."""
    return max(1, min(machine.cores, int(machine.memory / MEMORY_OF_JOB)))


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt claims", description=__doc__)
    parser.add_argument(
        "claims", nargs="*", metavar="CLAIM", help="claims, such as L5 (default: all that are undecided)"
    )
    parser.add_argument("--only", nargs="+", metavar="CLAIM", default=[], help="the same, as an option")
    parser.add_argument(
        "--again",
        action="store_true",
        help="make runs whose results are kept once more, unless they are here, and compare",
    )
    parser.add_argument("--budget", type=hours, metavar="HOURS", help="do the jobs that fit into HOURS")
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="jobs at a time, a core each (default: as many as there are cores, and memory for: "
        f"{MEMORY_OF_JOB:g} GB each)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what would be done")
    return parser
