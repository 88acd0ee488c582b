"""The files of a release brought into one folder: downloaded or taken from another, verified, unpacked.

The readers of releases read the folder. Archives stay in it beside what was unpacked from them, and
SHA256SUMS tells what they are (`sha256sum --check SHA256SUMS`).
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from zsnmt.corpora.releases.download import WAITS, DownloadError, MissingFile, Wanted, download
from zsnmt.corpora.releases.release import open_lines
from zsnmt.corpora.releases.unpack import unpack, unpacked_name
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.links import link_or_copy
from zsnmt.files.system_locks import opened_to_lock, try_lock
from zsnmt.languages import check_languages
from zsnmt.text.lines import read_lines, write_lines

SUMS = "SHA256SUMS"


class NoSuchFile(Exception):
    """The makers of a corpus have no file of an optional part."""


@dataclass(frozen=True)
class ReleaseFile:
    """A file as its makers released it.

    `urls`: where it is, tried in this order. `size` in bytes and `sha256` in hexadecimal digits: None
    where nobody has published them. `nested`: globs of archives in it that are unpacked too. `read`: how the
    lines of a plain text are read, with InputError for one that is not in the form of the release.
    """

    name: str
    urls: tuple[str, ...]
    size: int | None = None
    sha256: str | None = None
    nested: tuple[str, ...] = ()
    read: Callable[[Path], Iterable] = open_lines

    @property
    def packed(self) -> bool:
        """Whether it is an archive, which shows when it is damaged."""
        return unpacked_name(self.name) != self.name


@dataclass(frozen=True)
class Part:
    """A part of a corpus: one file, or several of which any one will do; `language` None: it serves all.

    `optional`: its makers may have no such file, which shows when it is asked for.
    """

    files: tuple[ReleaseFile, ...]
    language: str | None = None
    optional: bool = False


@dataclass(frozen=True)
class Corpus:
    """What there is to fetch of a corpus, and what a person should know before.

    `make_parts`: for a corpus of more languages than can be listed, the parts for some of them.
    """

    licence: str
    homepage: str
    languages: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    make_parts: Callable[[Sequence[str]], tuple[Part, ...]] | None = None


def fetch(
    corpus: Corpus,
    folder: Path,
    languages: Sequence[str] | None = None,
    given: Path | None = None,
    waits: Sequence[float] = WAITS,
) -> list[Path]:
    """Brings a corpus, or its parts for some languages, into `folder`; returns its texts, files and folders.

    What is in `folder` already is verified and left alone. The rest is taken from the folder `given`
    if there is one, else downloaded; `waits`: seconds between the tries of one address. Raises InputError
    for an unknown language, a file that is missing from `given`, is not the one released, is not the one
    fetched before (SHA256SUMS) or cannot be unpacked, and when no address gives a file. Files that are
    done by then stay.
    """
    parts = choose(corpus, languages)
    found = [find(part, [folder] if given is None else [folder, given]) for part in parts]
    if given is not None:
        missing = [part for part, place in zip(parts, found) if place is None and not part.optional]
        check_given(given, missing, corpus.homepage)
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        sums = read_sums(folder / SUMS)
        texts = []
        for part, place in zip(tqdm(parts, unit=" files", leave=False, disable=None), found):
            if place is not None:
                file, source, digest = *place, verify(*place, sums)
            elif part.optional and given is not None:
                continue
            else:
                try:
                    file, source, digest = download_any(part, folder, corpus.homepage, sums=sums, waits=waits)
                except NoSuchFile:
                    continue
            archive, text = folder / file.name, folder / unpacked_name(file.name)
            if text != archive and (place != (file, archive) or not is_as_unpacked(text, sums)):
                unpack(source, text, file.nested)
                if text.is_file():
                    sums[text.name] = sha256(text)
            if source != archive:
                link_or_copy(source, archive)
            sums[file.name] = digest
            write_lines(folder / SUMS, [f"{sums[name]}  {name}" for name in sorted(sums)])
            texts.append(text)
    return texts


def is_as_unpacked(text: Path, sums: Mapping[str, str]) -> bool:
    """Whether what was unpacked is there: a file as it was then, or a folder."""
    return text.is_dir() or text.is_file() and sums.get(text.name) == sha256(text)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """`InputError` while another process fetches into the folder."""
    with opened_to_lock(folder) as lock:
        free = True
        with suppress(OSError):  # of a file system without locks
            free = try_lock(lock)
        if not free:
            raise InputError(f"another process fetches into {folder}; wait for it or end it")
        yield


def for_languages(corpus: Corpus, languages: Sequence[str] | None) -> Corpus:
    """The corpus with the parts of some languages, where it does not list its own: two or more."""
    if corpus.make_parts is None:
        return corpus
    if languages is None:
        raise InputError("the corpus has hundreds of languages; name two or more, as in --languages en pt")
    return replace(corpus, languages=tuple(languages), parts=corpus.make_parts(check_languages(languages)))


def use_mirror(corpus: Corpus, url: str) -> Corpus:
    """The corpus with every file at one address, below which it lies under its name."""
    if not re.match("https?://", url) or not url.isascii():
        raise InputError(f"'{url}' is not an address of a mirror; it must begin with http:// or https://")

    def move(file: ReleaseFile) -> ReleaseFile:
        return replace(file, urls=(f"{url.removesuffix('/')}/{file.name}",))

    return replace(
        corpus, parts=tuple(replace(part, files=tuple(map(move, part.files))) for part in corpus.parts)
    )


def choose(corpus: Corpus, languages: Sequence[str] | None) -> list[Part]:
    """The parts for the languages, None being all."""
    unknown = [language for language in languages or () if language not in corpus.languages]
    if unknown and corpus.languages:  # else one file has all of them
        raise InputError(f"unknown language '{unknown[0]}': the corpus has {', '.join(corpus.languages)}")
    parts = [part for part in corpus.parts if languages is None or part.language in (None, *languages)]
    if not parts:
        raise InputError(f"nothing to fetch; name one or more of {', '.join(corpus.languages[1:])}")
    return parts


def find(part: Part, folders: Sequence[Path]) -> tuple[ReleaseFile, Path] | None:
    """The first file that will do and is there, and where."""
    places = ((file, folder / file.name) for folder in folders for file in part.files)
    return next((place for place in places if place[1].is_file()), None)


def check_given(given: Path, missing: Sequence[Part], homepage: str) -> None:
    if not given.is_dir():
        raise InputError(f"{given} is not a folder; give the one with the files of the release")
    if missing:
        raise InputError(
            f"{given} lacks {', '.join(map(names, missing))}; get what is missing from {homepage}, "
            f"or leave --from-dir out to download it"
        )


def names(part: Part) -> str:
    return " or ".join(file.name for file in part.files)


def download_any(
    part: Part, folder: Path, homepage: str, sums: Mapping[str, str], waits: Sequence[float]
) -> tuple[ReleaseFile, Path, str]:
    """The first file that will do and an address gives, where it is now, and its SHA-256.

    Raises NoSuchFile for an optional part that no address has.
    """
    faults, missing = [], part.optional
    for file in part.files:
        path, wanted = folder / file.name, Wanted(file.size, checked=file.packed or file.sha256 is not None)
        beside = path.with_name(path.name + ".part")
        for url in file.urls:
            try:
                download(url, beside, wanted, waits=waits)
            except DownloadError as error:
                faults.append(f"{url}: {error}")
                missing &= isinstance(error, MissingFile)
                continue
            digest, fault = compare(file, beside, sums)
            if fault is None:
                os.replace(beside, path)
                return file, path, digest
            beside.unlink()
            faults.append(f"{url}: its file {fault}")
            missing = False
    if missing:
        raise NoSuchFile(names(part))
    raise InputError(
        f"{names(part)} could not be downloaded ({'; '.join(faults)}); try again later, or get it from "
        f"{homepage} yourself and name the folder it is in with --from-dir"
    )


def verify(file: ReleaseFile, path: Path, sums: Mapping[str, str]) -> str:
    digest, fault = compare(file, path, sums)
    if fault is not None:
        raise InputError(f"{path} {fault}; remove it to fetch it anew")
    return digest


def compare(file: ReleaseFile, path: Path, sums: Mapping[str, str]) -> tuple[str, str | None]:
    """The SHA-256 of a file, and what shows that it is not the one released or fetched before, if
    anything.
    """
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    size = path.stat().st_size
    if file.size not in (None, size):
        return digest, f"has {size} bytes, not {file.size} as the release"
    if file.sha256 not in (None, digest):
        return digest, f"has the SHA-256 {digest}, not {file.sha256} as the release"
    if sums.get(file.name, digest) != digest:
        return digest, f"has the SHA-256 {digest}, not {sums[file.name]} as {SUMS} tells"
    known = file.sha256 is not None or file.name in sums
    return digest, None if known or file.packed else fault_of_text(file, path)


def fault_of_text(file: ReleaseFile, path: Path) -> str | None:
    """What shows that a plain text is not whole, or not in the form of the release; None if nothing does."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if b"\0\0" in line:
                return f"has a row of NULs in line {number}, as where a part is lost"
    try:
        for _ in file.read(path):
            pass
    except InputError as error:
        return f"is not as in the release ({error})"
    return None


def read_sums(path: Path) -> dict[str, str]:
    """The SHA-256 by file name; none when the file is not there yet."""
    sums = {}
    for number, line in enumerate(read_lines(path) if path.exists() else (), start=1):
        if (match := re.fullmatch("([0-9a-f]{64})  (.+)", line)) is None:
            raise InputError(f"{path}, line {number} is not one of sha256sum; remove the line")
        sums[match[2]] = match[1]
    return sums
