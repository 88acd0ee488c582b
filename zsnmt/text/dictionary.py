"""A model's symbols by their ids, as fairseq numbers them: its file is read here without PyTorch."""

from pathlib import Path

from zsnmt.files.records import damage_of

SPECIAL = BOS, PAD, EOS, UNKNOWN = "<s>", "<pad>", "</s>", "<unk>"  # the first symbols of all dictionaries
OVERWRITE = "#fairseq:overwrite"  # ends the line of a symbol that stands for a second time


class Dictionary:
    """As much of fairseq's dictionary as turns pieces into ids and back."""

    nspecial = len(SPECIAL)

    def __init__(self) -> None:
        self.symbols: list[str] = []
        self.indices: dict[str, int] = {}
        for symbol in SPECIAL:
            self.add(symbol)

    @classmethod
    def load(cls, path: Path, remedy: str) -> "Dictionary":
        """What fairseq's gives of a file; `InputError` with the remedy for one that is damaged."""
        dictionary = cls()
        with damage_of(path, remedy), path.open(encoding="utf-8") as lines:
            for line in lines:
                symbol, count = line.rstrip().rsplit(" ", 1)
                again = count == OVERWRITE
                if again:
                    symbol, count = symbol.rsplit(" ", 1)
                int(count)
                if symbol in dictionary.indices and not again:
                    raise ValueError(f"'{symbol}' is in it twice")
                dictionary.add(symbol)
        return dictionary

    def add(self, symbol: str) -> None:
        """Give the next id to a symbol, which leaves one that it had before."""
        self.indices[symbol] = len(self.symbols)
        self.symbols.append(symbol)

    def index(self, symbol: str) -> int:
        """The id of a symbol, or that of an unknown one."""
        return self.indices.get(symbol, self.unk())

    def pad(self) -> int:
        """The id of padding."""
        return SPECIAL.index(PAD)

    def eos(self) -> int:
        """The id of the end of a sentence."""
        return SPECIAL.index(EOS)

    def unk(self) -> int:
        """The id of an unknown symbol."""
        return SPECIAL.index(UNKNOWN)

    def __getitem__(self, number: int) -> str:
        return self.symbols[number] if number < len(self.symbols) else UNKNOWN

    def __len__(self) -> int:
        return len(self.symbols)
