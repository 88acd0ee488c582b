"""Make the runs that the claims of the papers need which are not decided, the cheapest that tells first, and
fill the table of claims. Run it again to go on after a stop.

    zsnmt claims --dry-run                     # what would be done, for how long, and how many seeds tell
    zsnmt claims --budget 8 --jobs 2           # what two cores do in eight hours
    zsnmt claims L18 L21

Claims are those of docs/results/claims.md. Each job is a command or two of that page for one seed; it prints
to runs/claims/, and its results are kept as zsnmt results keeps them. Hours are estimates, which what jobs
took so far corrects. A job whose text is not here is listed with what is lacking.
"""

from collections.abc import Sequence
from functools import partial

from zsnmt import console
from zsnmt.cli.recipe import Recipe, parse, positive
from zsnmt.cli.results import KEPT
from zsnmt.files.project import ROOT


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt claims", description=__doc__)
    parser.add_argument(
        "claims", nargs="*", metavar="CLAIM", help="such as L5 (default: all that are not decided)"
    )
    parser.add_argument("--budget", type=float, metavar="HOURS", help="do what fits into so many hours")
    parser.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="jobs at a time, a core each (default: 1)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what would be done")
    options = parse(parser, arguments)
    recipe = Recipe("claims")

    from zsnmt.claims.doing import do_job
    from zsnmt.claims.plan import Places, plan, within_budget
    from zsnmt.claims.planned import in_lines, jobs_table, power_table
    from zsnmt.claims.table import outcomes
    from zsnmt.training.children import all_side_by_side

    places = Places(ROOT, recipe.runs, KEPT, variables=recipe.variables)
    claims = outcomes(KEPT)
    jobs = plan(claims, places, options.claims)
    chosen = within_budget(jobs, float("inf") if options.budget is None else options.budget, options.jobs)
    if options.dry_run:
        print(in_lines(power_table(claims, options.claims)), in_lines(jobs_table(jobs, chosen)), sep="\n\n")
        return
    if not chosen:
        recipe.steps.say("nothing is left that can be done here in this time; --dry-run says what is lacking")
        return
    all_side_by_side([partial(do_job, recipe.steps, job, places) for job in chosen], options.jobs)
