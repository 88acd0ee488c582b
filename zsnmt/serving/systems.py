"""The systems that a server has: runs and exports, each with its name and what tells its languages apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.engines import engine_for
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, check_known
from zsnmt.runs.folder import check_named_once, kinds, piece_counts, read_record
from zsnmt.runs.ways import DIRECT
from zsnmt.serving.detection import Detector, detector_of


@dataclass(frozen=True)
class System:
    """A trained run at work. `kind`: what a direction is to the model; `detector`: None where nothing tells
    its languages apart; `ways`: what translates by each method; `way`: the one by which requests are
    translated that name none; `via`: a language through which directions go that it was not trained on.
    """

    name: str
    translator: Translator
    kind: Callable[[Direction], str]
    detector: Detector | None
    ways: Mapping[str, Translator] = field(default_factory=dict)
    way: str | None = None
    via: str | None = None

    @property
    def languages(self) -> list[str]:
        """The languages in their order, the pivot first."""
        return self.translator.languages

    def legs(
        self,
        source: str | None,
        target: str,
        via: str | None = None,
        *,
        way: str | None = None,
        directly: bool = False,
    ) -> tuple[Direction, ...]:
        """The directions from one language into another, through a third one unless it is one of them;
        `directly`: not through the server's own, either.
        """
        unknown = source and Direction(source, target) not in self.translator.trained
        if via is None and way in (None, self.way) and unknown and not directly:
            via = self.via
        return (*self.translator_by(way).legs(source, target, None if via in (source, target) else via),)

    def translator_by(self, way: str | None) -> Translator:
        """What translates by a method, or directly without; `InputError` for one that is not offered."""
        if way is None:
            return self.translator
        if way not in self.ways:
            offered = f"choose one of: {'; '.join(self.ways)}" if self.ways else "leave 'way' out"
            raise InputError(f"{self.name} is not translated by '{way}' here; {offered}")
        return self.ways[way]

    def way_of(self, asked: str | None, direction: Direction) -> str | None:
        """The method that a request asks for, or the server's own, where it has anything to say of a
        direction, as an ensemble through the pivot has not of those with the pivot; else None.
        """
        way = self.way if asked is None else asked
        if way == DIRECT.name:
            return None
        method = self.translator_by(way).method  # None of a search with another beam
        return None if method and method.fault(direction) else way


def open_systems(
    folders: Sequence[Path],
    search: Search,
    choice: EngineChoice,
    *,
    ways: Sequence[str] = (),
    way: str | None = None,
    via: str | None = None,
) -> dict[str, System]:
    """The systems in folders of runs and exports, by name: that of the run's system and its seed, or, where
    two would be of one name, the folder. Each translates by all methods of `ways`, too, by `way` unless a
    request names another one, and through the language `via` what it was not trained on, if there is one.

    They translate in this process; PyTorch with as many threads as there are workers. `InputError` for a
    folder that is neither, for one that is named twice, and for one that cannot translate by a method.
    """
    methods = {each: parse_method(each) for each in [*filter(None, [way]), *ways]}
    if way and methods[way].several:
        raise InputError(
            f"--way {way} reads several sentences for each that it writes, which a request has to ask for; "
            f"give --ways {way}, or for all requests mask:renormalise=yes"
        )
    choices = {folder: engine_for(folder, methods.values(), choice) for folder in folders}
    check_named_once(folders)
    records = {folder: (record_of(folder), is_export(folder)) for folder in folders}
    names = {folder: system_name(*records[folder]) for folder in folders}
    if len({*names.values()}) < len(folders):
        names = {folder: str(folder) for folder in folders}
    systems = {}
    for folder, (record, _) in records.items():
        translator = Translator.open(folder, search, choices[folder], prepare=True)
        if not isinstance(translator.engine, CTranslate2Engine):
            from zsnmt.inference.pytorch import keep_in_process

            translator.engine = keep_in_process(translator.engine, threads=choice.workers)
        detector = detector_of(translator.languages, Path(record["text"]))
        counts = piece_counts(folder) if any(method.mask for method in methods.values()) else None
        systems[names[folder]] = System(
            names[folder],
            translator,
            kinds(record, translator.trained),
            detector=detector,
            ways={name: translator.by(method, counts) for name, method in methods.items()},
            way=way,
            via=via and check_known(via, translator.languages),
        )
    return systems


def record_of(folder: Path) -> Mapping:
    """What is known of a run, or of the run of an export."""
    return describe_export(folder)["run"] if is_export(folder) else read_record(folder)


def system_name(record: Mapping, exported: bool) -> str:
    """A run's system and seed, with a word for its export."""
    return f"{record['system']}, seed {record['seed']}{', export' if exported else ''}"
