"""Knows where log lines come from: paths, globs, folders, rotated and packed files, standard input.

Files are read as a stream of lines whatever their size; of a very long line only the start is kept.
"""

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import re
import stat
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TypeAlias

from hermes_bot.diagnosis.values import LogFile, RawLine
from hermes_bot.errors import ToolError
from hermes_bot.markdown import clip

KEPT_CHARACTERS = 64 * 1024
"""How much of a line is kept; a longer line counts as one line all the same."""

MAX_FILES = 2000
_CHUNK = 256 * 1024
_SAMPLE = 64 * 1024
_SHOWN_PATH = 200
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_MOST_CONTROLS = 20  # a text has fewer control bytes than one in so many
_WIDE_SHARE = 0.7
_MARKS = (  # that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PACKED = re.compile(r"\.(?:gz|bz2|xz)$")
_NUMBERED = re.compile(r"[.-](?P<n>\d{1,3})$")
_DATED = re.compile(r"[.-](?P<d>\d{4}-?\d{2}-?\d{2}(?:[-T]?\d+)?)$")
_GLOB = re.compile(r"[*?\[]")
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)

Stream: TypeAlias = gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile | io.BufferedReader


@dataclass(frozen=True, slots=True)
class Source:
    """The files behind some paths, in reading order, and sentences about those that cannot be read."""

    files: tuple[LogFile, ...]
    notes: tuple[str, ...]


def find_files(paths: Sequence[Path | str], stdin: Path | None = None) -> Source:
    """Find the log files that paths, globs and folders name, the oldest rotated part first.

    ``-`` names standard input, whose text lies in the file ``stdin``.

    Raises:
        ToolError: ``not_found`` or ``unreadable``: nothing can be read; the text says why in plain words.
    """
    notes: list[str] = []
    files: list[LogFile] = []
    seen: set[str] = set()
    named: list[tuple[str, Path]] = []
    for path in paths:
        here = [("-", stdin)] if stdin and str(path) == "-" else _expand(str(path), notes)
        # Names out of several folders are told apart by the folder.
        named += [(_with_folder(name, at), at) for name, at in here] if len(paths) > 1 else here
    for name, path in _unique_names(named)[:MAX_FILES]:
        resolved = os.path.realpath(path)  # unlike Path.resolve, it takes a link that leads to itself
        if resolved in seen:
            continue
        seen.add(resolved)
        try:
            files.append(_inspect(name, path))
        except ToolError as refusal:
            notes.append(str(refusal))
    if len(named) > MAX_FILES:
        notes.append(f"Only the first {MAX_FILES} of {len(named)} files were read.")
    if not files:
        found = bool(named)
        text = " ".join(notes) or "No path was given. Name a log file, a folder or a pattern."
        raise ToolError("unreadable" if found else "not_found", text)
    return Source(tuple(sorted(files, key=_reading_order)), tuple(notes))


def _expand(given: str, notes: list[str]) -> list[tuple[str, Path]]:
    try:
        return _expand_path(given, notes)
    except OSError as error:  # a folder on the way may not be searched, or no file can have this name
        notes.append(f"{_shortened(given)}: this path cannot be read ({error.strerror}).")
        return []


def _expand_path(given: str, notes: list[str]) -> list[tuple[str, Path]]:
    path = Path(given)
    if not given:
        notes.append("A path is empty. Name a log file, a folder or a pattern.")
        return []
    if path.is_dir():
        inside = sorted(p for p in _files_in(path, notes) if _is_listed(p, path))
        if not inside:
            notes.append(f"{given}: this folder holds no files.")
        return [(p.relative_to(path).as_posix(), p) for p in inside]
    if path.exists() or path.is_symlink():
        return [(path.name, path)]
    if _GLOB.search(given):
        return _expand_glob(given, notes)
    notes.append(f"{_shortened(given)}: there is no such file or folder. Check the path.")
    return []


def _shortened(path: str) -> str:
    return clip(path, _SHOWN_PATH)


def _files_in(folder: Path, notes: list[str]) -> Iterator[Path]:
    def refused(error: OSError) -> None:
        notes.append(f"{error.filename}: this folder cannot be read ({error.strerror}).")

    for at, _, names in os.walk(folder, onerror=refused):
        yield from (Path(at, name) for name in names)


def _with_folder(name: str, path: Path) -> str:
    root = path.as_posix().removesuffix(name).rstrip("/").rsplit("/", 1)[-1]
    return f"{root}/{name}" if root and name != "-" else name


def _is_listed(path: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not hidden and _is_file(path)


def _is_file(path: Path) -> bool:
    """Whether it is a file; one that cannot be asked counts, so that reading it says why."""
    try:
        return path.is_file()
    except OSError:
        return True


def _expand_glob(given: str, notes: list[str]) -> list[tuple[str, Path]]:
    matches = [Path(m) for m in sorted(glob.glob(given, recursive=True))]  # noqa: PTH207 - absolute patterns
    found = [path for path in matches if _is_file(path)]
    if not found:
        notes.append(f"{given}: no file fits this pattern.")
    parts = Path(given).parts
    fixed = next((i for i, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    root = Path(*parts[:fixed]) if fixed else Path()
    return [(path.relative_to(root).as_posix(), path) for path in found]


def _unique_names(named: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """Two files of one name are cited by their whole paths."""
    counts: dict[str, set[Path]] = {}
    for name, path in named:
        counts.setdefault(name, set()).add(path)
    return [(name if len(counts[name]) == 1 else path.as_posix(), path) for name, path in named]


def _inspect(name: str, path: Path) -> LogFile:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ToolError("unreadable", f"{name}: this is no regular file, so it is not read.")
        with open_binary(path) as stream:
            sample = _sample(stream)
    except _DAMAGE as error:
        raise ToolError("unreadable", f"{name}: this packed file is damaged ({error}).") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ToolError("unreadable", f"{name}: this file cannot be read ({reason}).") from error
    encoding = find_encoding(sample)
    if encoding is None:
        raise ToolError("binary", f"{name}: this is a binary file, no text log, so it is not read.")
    return LogFile(name, path, family(name), encoding, _moment(status.st_mtime))


def _moment(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError):  # a broken clock's: as late as can be, so that it limits nothing
        return datetime.max.replace(tzinfo=UTC)


def _sample(stream: Stream) -> bytes:
    """Read the start of a file; of a damaged one what there is."""
    sample = b""
    try:
        while more := stream.read1(_SAMPLE - len(sample)):
            sample += more
    except _DAMAGE:
        if not sample:
            raise
    return sample


def find_encoding(sample: bytes) -> str | None:
    """Tell the codec of a text from its first bytes; None for what is no text."""
    for mark, codec in _MARKS:
        if sample.startswith(mark):
            return codec
    if b"\0" in sample and (wide := _wide_encoding(sample)):
        return wide
    if sum(byte in _CONTROLS for byte in sample) * _MOST_CONTROLS > len(sample):
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=False)
    except UnicodeDecodeError:
        return "utf-8" if _is_mostly_utf8(sample) else "latin-1"
    return "utf-8"


def _wide_encoding(sample: bytes) -> str | None:
    """UTF-16 without a mark shows as a zero in nearly every second byte."""
    half = max(1, len(sample) // 2)
    for codec, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if zeros.count(0) / half > _WIDE_SHARE:
            return codec
    return None


def _is_mostly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    good = sum(not c.isascii() for c in text) - text.count("�")
    return good > text.count("�")


def family(name: str) -> str:
    """Give a file's name without what rotation and packing added."""
    base = _PACKED.sub("", name)
    return _DATED.sub("", _NUMBERED.sub("", base)) or name


def _reading_order(file: LogFile) -> tuple[str, int, str, int]:
    base = _PACKED.sub("", file.name)
    number = _NUMBERED.search(base)
    dated = _DATED.search(base)
    if dated:
        return file.family, 0, dated["d"], 0
    # x.log.3 is older than x.log.1, and x.log itself is the newest.
    return file.family, 1, "", -int(number["n"]) if number else 1


def open_binary(path: Path) -> Stream:
    """Open a file's bytes, unpacked where its first bytes say it is packed.

    Raises:
        OSError: it cannot be opened.
    """
    with path.open("rb") as probe:
        magic = probe.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(path, "rb")
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(path, "rb")
    if magic == b"\xfd7zXZ\0":
        return lzma.LZMAFile(path, "rb")
    return path.open("rb")


def read_lines(file: LogFile, notes: list[str] | None = None) -> Iterator[RawLine]:
    r"""Read a file's lines, ended by ``\n`` or ``\r\n``, numbered from 1.

    A packed file that breaks off gives the lines before that, and a sentence in ``notes``.
    """
    number = 0
    try:
        with open_binary(file.path) as stream:
            for text in _split(_decoded(stream, file.encoding)):
                number += 1
                yield RawLine(number, text)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if notes is not None:
            notes.append(f"{file.name}: reading broke off after line {number} ({error}).")


def _decoded(stream: Stream, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while chunk := stream.read1(_CHUNK):  # read would lose what lies before a damage in the same chunk
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _split(chunks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for chunk in chunks:
        first, *others = chunk.split("\n")
        rest += first if len(rest) < KEPT_CHARACTERS else ""
        for text in others:
            yield _kept(rest)
            rest = text
    if rest:
        yield _kept(rest)


def _kept(text: str) -> str:
    return text[:KEPT_CHARACTERS].removesuffix("\r")


def lines_at(file: LogFile, numbers: Iterable[int]) -> dict[int, str]:
    """Read some lines again, by number."""
    wanted = set(numbers)
    last = max(wanted, default=0)
    found: dict[int, str] = {}
    for line in read_lines(file):
        if line.number in wanted:
            found[line.number] = line.text
        if line.number >= last:
            break
    return found


@contextmanager
def spooled(stdin: BinaryIO) -> Iterator[Path]:
    """Keep standard input in a temporary file for as long as it is read, since quotes read it again."""
    with tempfile.NamedTemporaryFile(prefix="hermes-logs-") as spool:
        while chunk := stdin.read(_CHUNK):
            spool.write(chunk)
        spool.flush()
        yield Path(spool.name)
