"""List the options of an architecture, of the task that it is trained with and of the loss with remedies:
their defaults and values, and what each of them changes.

    zsnmt options                            # the architectures
    zsnmt options zs_transformer_residual    # its options, those of zsnmt before those of fairseq
    zsnmt options zs_transformer --own       # those of zsnmt alone

They are options of fairseq-train, whose own --help cannot show them. In a config they belong to MODEL and
TRAINING.
"""

import argparse
from collections.abc import Callable, Collection, Iterator, Sequence

from zsnmt import console
from zsnmt.errors import InputError

TASKS = {"zs_transformer": "zs_translation", "zs_bert": "zs_masked_lm"}  # what a model is trained with
CRITERION = "zs_cross_entropy"  # the loss with remedies

AddArguments = Callable[[argparse._ActionsContainer], None]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt options", description=__doc__)
    parser.add_argument("architecture", nargs="?", help="name of an architecture (default: list all of them)")
    parser.add_argument("--own", action="store_true", help="leave out the options that are fairseq's")
    options = parser.parse_args(arguments)
    import fairseq.models  # loads PyTorch, and with it what zsnmt registers

    import zsnmt

    zsnmt.register()
    names = fairseq.models.ARCH_MODEL_NAME_REGISTRY
    known = [name for name in names if names[name] in TASKS]
    if options.architecture is None:
        print(architectures(known))
    elif options.architecture in known:
        print("\n".join(sections(options.architecture, options.own)))
    else:
        raise InputError(
            f"there is no architecture '{options.architecture}' in zsnmt; choose {', '.join(known)}"
        )


def architectures(names: Sequence[str]) -> str:
    """A line for each, with what it is."""
    from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_NAME_REGISTRY

    rows = [
        (name, TASKS[ARCH_MODEL_NAME_REGISTRY[name]], ARCH_CONFIG_REGISTRY[name].__doc__.split("\n")[0])
        for name in names
    ]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(f"{name:<{widths[0]}}  {task:<{widths[1]}}  {text}" for name, task, text in rows)


def sections(architecture: str, own: bool) -> Iterator[str]:
    """The options of the model, of its task and of the loss, in groups; `own`: only those that zsnmt adds to
    fairseq's, or changes.
    """
    from fairseq.criterions import CRITERION_REGISTRY
    from fairseq.models import ARCH_MODEL_NAME_REGISTRY, ARCH_MODEL_REGISTRY
    from fairseq.tasks import TASK_REGISTRY

    from zsnmt.data.task_options import CHANGED_OPTIONS, STOCK_OPTIONS

    model, name = ARCH_MODEL_REGISTRY[architecture], ARCH_MODEL_NAME_REGISTRY[architecture]
    task = TASK_REGISTRY[TASKS[name]]
    defaults = training_defaults(architecture, TASKS[name])
    stock_model, stock_task = model.__mro__[1], task.__mro__[1]
    stock_task_options = destinations(stock_task.add_args) - {*CHANGED_OPTIONS}
    yield section(
        f"model {name}: what zsnmt adds", model.add_args, defaults, without=destinations(stock_model.add_args)
    )
    yield section(f"task {TASKS[name]}: what zsnmt adds", task.add_args, defaults, without=stock_task_options)
    if TASKS[name] == "zs_translation":
        stock_options = destinations(CRITERION_REGISTRY["label_smoothed_cross_entropy"].add_args)
        add_args = CRITERION_REGISTRY[CRITERION].add_args
        yield section(f"with --criterion {CRITERION}", add_args, defaults, without=stock_options)
    if not own:
        yield section(
            f"model {name}: what fairseq's {stock_model.__name__} has", stock_model.add_args, defaults
        )
        if stock_task_options:
            yield section(
                f"task {TASKS[name]}: what fairseq's {stock_task.__name__} has",
                stock_task.add_args,
                defaults,
                without=[*STOCK_OPTIONS, *CHANGED_OPTIONS],
            )


def training_defaults(architecture: str, task: str) -> dict[str, object]:
    """The value that each option has in fairseq-train unless it is given."""
    from fairseq import options
    from fairseq.models import ARCH_MODEL_REGISTRY
    from fairseq.models.transformer import TransformerModelBase

    parser = options.get_training_parser()
    chosen = vars(options.parse_args_and_arch(parser, [".", "--arch", architecture, "--task", task]))
    stock = argparse.ArgumentParser()  # of options that the architecture leaves to the model
    if issubclass(ARCH_MODEL_REGISTRY[architecture], TransformerModelBase):
        TransformerModelBase.add_args(stock)
    return {action.dest: action.default for action in stock._actions} | chosen


def destinations(add_args: AddArguments) -> set[str]:
    """The names, in Python, of the options that a function adds."""
    parser = argparse.ArgumentParser(add_help=False)
    add_args(parser)
    return {action.dest for action in parser._actions}


def section(
    title: str, add_args: AddArguments, defaults: dict[str, object], without: Collection[str] = ()
) -> str:
    """Help on the options that a function adds, but for some, with defaults."""
    parser = console.Parser(usage=argparse.SUPPRESS, add_help=False)
    group = parser.add_argument_group(title)
    add_args(group)
    for action in group._group_actions:
        action.default = defaults.get(action.dest, action.default)
        if action.dest in without or not action.option_strings:
            action.help = argparse.SUPPRESS
    return parser.format_help()
