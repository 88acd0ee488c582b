"""The runs that would tell more of a claim, as commands that a person can give."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEEDS = (1, 2, 3)
TEXT_KEYS = ("TEXT", "MULTIWAY", "RELEASE")  # of a config, which name a file or a folder


@dataclass(frozen=True)
class Need:
    """Commands, one after another, for each of some seeds; `{seed}` stands for it, `{runs}` for the folder of
    runs; `name` names the files of what they print.

    `network`: whether they need what is fetched while they run.
    """

    name: str
    commands: Sequence[str]
    seeds: Sequence[int] = SEEDS
    network: bool = False

    def __str__(self) -> str:
        """The commands as a document shows them, in backquotes."""
        listed = " ".join(map(str, self.seeds))
        shown = [command.replace("--seeds {seed}", f"--seeds {listed}") for command in self.commands]
        return ", then ".join(f"`{self.of_seed(command)}`" for command in shown)

    def of_seed(self, command: str, seed: int | None = None, runs: Path = Path("runs")) -> str:
        """A command for one seed, by default the first."""
        return command.format(seed=self.seeds[0] if seed is None else seed, runs=runs)

    @property
    def configs(self) -> list[Path]:
        """The configs that the commands name, from the top of the project."""
        words = " ".join(self.commands).split()
        return [Path(word) for word in dict.fromkeys(words) if word.startswith("configs/")]


def ablation(config: str, study: str, seeds: Sequence[int] = SEEDS) -> Need:
    """A study of translation models."""
    command = f"zsnmt ablate configs/{config}.conf {study} --seeds {{seed}}"
    return Need(f"{config}_{study}", (command,), seeds)


def masked_lm(config: str, *options: str, seeds: Sequence[int] = SEEDS, name: str | None = None) -> Need:
    """Masked language models; `name`: by default that of the config."""
    command = " ".join(("zsnmt masked-lm", f"configs/{config}.conf", *options, "--seeds {seed}"))
    return Need(name or config, (command,), seeds)


def adaptation(config: str, before: str, systems: Sequence[str]) -> Need:
    """A language added to the runs of another config."""
    return Need(
        config,
        (
            f"zsnmt ablate configs/{before}.conf query --seeds {{seed}}",
            *(f"zsnmt adapt configs/{config}.conf {run_of(before, system)}" for system in systems),
            " ".join(("zsnmt evaluate", *(run_of(config, system) for system in systems))),
        ),
    )


def probing(config: str, systems: Sequence[str], options: str = "") -> Need:
    """Probes of the runs of a config, with options of `zsnmt probe`."""
    return Need(
        f"{config}_probes",
        (
            f"zsnmt ablate configs/{config}.conf query --seeds {{seed}}",
            *(f"zsnmt probe {run_of(config, system)} {options}".rstrip() for system in systems),
        ),
    )


def run_of(config: str, system: str) -> str:
    """The folder of a run, for a command."""
    return f"{{runs}}/{config}/{system}/seed{{seed}}"
