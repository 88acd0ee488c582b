"""The runs that would tell more of a claim, as commands that a person can give."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEEDS = (1, 2, 3)
PROBE, EVALUATE = OF_RUNS = "zsnmt probe", "zsnmt evaluate"  # which take several runs
TEXT_KEYS = ("TEXT", "MULTIWAY", "RELEASE")  # of a config, which name a file or a folder


@dataclass(frozen=True)
class Need:
    """Commands, one after another, for each of some seeds; `{seed}` stands for it, `{runs}` for the folder of
    runs; `name` names the files of what they print.

    `wants`: what a person has to get first, if anything; `pivot`: the system, if any, that is there for the
    pivot of the others alone, so that the claim does not wait for its scores.
    """

    name: str
    commands: Sequence[str]
    seeds: Sequence[int] = SEEDS
    wants: str = ""
    pivot: str = ""

    def shown(self, seeds: Sequence[int]) -> str:
        """The commands for some seeds as a document shows them, in backquotes."""
        listed, shown = in_braces(seeds) if is_range(seeds) else " ".join(map(str, seeds)), []
        for command in self.commands:
            command = command.replace("--seeds {seed}", f"--seeds {listed}")
            if command.startswith(OF_RUNS):
                command = command.replace("seed{seed}", each_of(seeds))
            shown += [self.of_seed(command, seed) for seed in seeds]
        return ", then ".join(f"`{command}`" for command in dict.fromkeys(shown))

    def of_seed(self, command: str, seed: int | None = None, runs: Path = Path("runs")) -> str:
        """A command for one seed, by default the first."""
        return command.format(seed=self.seeds[0] if seed is None else seed, runs=shlex.quote(str(runs)))

    @property
    def configs(self) -> list[Path]:
        """The configs that the commands name, from the top of the project."""
        words = " ".join(self.commands).split()
        return [Path(word) for word in dict.fromkeys(words) if word.startswith("configs/")]


def is_range(seeds: Sequence[int]) -> bool:
    """Whether they are four neighbours or more, which a shell makes of the first and the last."""
    return len(seeds) > 3 and [*seeds] == [*range(seeds[0], seeds[-1] + 1)]


def each_of(seeds: Sequence[int]) -> str:
    """The folders of some seeds as a shell spells them, in the form of a command."""
    return f"seed{seeds[0] if len(seeds) == 1 else in_braces(seeds)}"


def in_braces(seeds: Sequence[int]) -> str:
    """Several seeds as a shell spells them, in the form of a command, whose braces are doubled."""
    inner = f"{seeds[0]}..{seeds[-1]}" if is_range(seeds) else ",".join(map(str, seeds))
    return f"{{{{{inner}}}}}"


def ablation(config: str, study: str, systems: Sequence[str] = (), *, pivot: str = "") -> Need:
    """A study of translation models, or some systems of it; `pivot`: one of them that the claim is not of."""
    chosen = f" --systems {' '.join(systems)}" if systems else ""
    command = f"zsnmt ablate configs/{config}.conf {study}{chosen} --seeds {{seed}}"
    return Need("_".join((config, study, *systems)), (command,), pivot=pivot)


def masked_lm(config: str, *options: str, seeds: Sequence[int] = SEEDS, name: str | None = None) -> Need:
    """Masked language models; `name`: by default that of the config."""
    command = " ".join(("zsnmt masked-lm", f"configs/{config}.conf", *options, "--seeds {seed}"))
    return Need(name or config, (command,), seeds)


def adaptation(config: str, before: str, systems: Sequence[str], *options: str) -> Need:
    """A language added to the runs of another config, with further options."""
    return Need(
        config,
        (
            *ablation(before, "query", systems).commands,
            *(
                " ".join((f"zsnmt adapt configs/{config}.conf", run_of(before, system), *options))
                for system in systems
            ),
            " ".join((EVALUATE, *(run_of(config, system) for system in systems))),
        ),
    )


def probing(config: str, systems: Sequence[str], *options: str) -> Need:
    """Probes of the runs of a config."""
    return Need(
        f"{config}_probes",
        (
            *ablation(config, "query", systems).commands,
            *(" ".join((PROBE, run_of(config, system), *options)) for system in systems),
        ),
    )


def run_of(config: str, system: str) -> str:
    """The folder of a run, for a command."""
    return f"{{runs}}/{config}/{system}/seed{{seed}}"
