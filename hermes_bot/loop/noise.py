"""Knows what of a text tells nobody anything: colours, progress bars, repeats, hidden signs, blobs. Pure."""

from __future__ import annotations

import re

from hermes_bot.markdown import clip
from hermes_bot.unseen import without_unseen

BINARY = "(binary, {:,} bytes)"

_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]")
_LINE_ENDS = re.compile("\r\n|[\u2028\u2029\x85\x0b\x0c]")
_PLAIN = re.compile(r"[\n\t -~]*\Z")
_BINARY_SAMPLE = 4_096
_FEW = 8  # a bell and a backspace make no file
_BINARY_CHARS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\udc80-\udcff]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])(?:[A-Za-z0-9+/]{200,}|[A-Za-z0-9_-]{200,})={0,2}")
_BASE64_LINES = re.compile(r"^(?:[A-Za-z0-9+/]{60,100}\n){3,}[A-Za-z0-9+/]*={0,2}$", re.MULTILINE)
# It begins with one set of signs, which is what lets the search skip everything else at once.
_BAR = re.compile(
    r"[█▉▊▋▌▍▎▏▓▒░━╸╺▰▱⣿#=\[|(]"
    r"(?:(?<=[^\[|(])[█▉▊▋▌▍▎▏▓▒░━╸╺▰▱⣿#=]{3,}|(?<=[\[|(])[#=>\-. █▉▊▋▌▍▎▏▓▒░━]{4,}[\])|])"
)
_AMOUNT = re.compile(r"\d\s?%|\d\s?/\s?\d|\d\s?[kKMG]?i?B/s")
_FRAME = re.compile(r'\s*(?:at\s+\S.*[():\d]|File ".*", line \d+.*|#\d+\s+\S.*|\.\.\. \d+ more.*)\s*\Z')
_BLOB_LINE = 60  # encoders wrap at 64 or 76 characters, or not at all
_TIMES = "\N{MULTIPLICATION SIGN}"


def is_binary(text: str) -> bool:
    """Tell whether a string is no text: a tenth of its start is controls or broken characters."""
    sample = text[:_BINARY_SAMPLE]
    if _PLAIN.match(sample):
        return False
    if "\x1b" in sample:
        sample = _ANSI.sub("", sample)
    odd = len(_BINARY_CHARS.findall(sample))
    return odd > _FEW and odd * 10 > len(sample)


def clean(text: str) -> str:
    """Return the text without colours, hidden characters and base64 blobs."""
    if not _PLAIN.match(text):
        if "\x1b" in text or "\x9b" in text:
            text = _ANSI.sub("", text)
        text = without_unseen(_LINE_ENDS.sub("\n", text))
    if len(text) >= _BLOB_LINE and max(map(len, text.split()), default=0) >= _BLOB_LINE:
        text = _BASE64.sub(_blob, _BASE64_LINES.sub(_blob, text))
    return text


def one_line(text: str, limit: int) -> str:
    """Return the text on one line of at most ``limit`` characters, without hidden signs and label marks."""
    # The start is taken first: the rest would be cut anyway.
    text = clean(text[: limit * 4])
    text = " ".join(text.split()).replace(" | ", " / ")
    return clip(text, limit)


def quiet_lines(text: str) -> list[str]:
    """Return the lines of a cleaned text without progress bars, repeats and frames shown before."""
    kept = text.split("\n")
    bars = frames = 0
    if "\r" in text:
        kept = [_after_return(line) for line in kept]
    if _BAR.search(text):
        kept, bars = _without_bars(kept)
    kept = _without_repeats(kept)
    if "at " in text or 'File "' in text or "#" in text:
        kept, frames = _without_known_frames(kept)
    if bars:
        kept.append(f"({bars:,} progress lines left out)")
    if frames:
        kept.append(f"({frames:,} repeated stack frames left out)")
    return kept


def _blob(found: re.Match[str]) -> str:
    run = found.group()
    if not (re.search(r"[a-z]", run) and re.search(r"[A-Z]", run) and re.search(r"\d", run)):
        return run  # a row of one sign, a word, a hash: no encoded bytes
    return BINARY.format(len(run) * 3 // 4)


def _after_return(line: str) -> str:
    """Return what a terminal shows of a line that was written over."""
    return line.rstrip("\r").rpartition("\r")[2]


def _without_bars(lines: list[str]) -> tuple[list[str], int]:
    kept = [line for line in lines if not (_BAR.search(line) and _AMOUNT.search(line))]
    return kept, len(lines) - len(kept)


def _without_repeats(lines: list[str]) -> list[str]:
    """Fold lines, and blocks of up to four lines, that say again what stands just before them."""
    if len(set(lines)) == len(lines):
        return lines
    kept: list[str] = []
    at = 0
    while at < len(lines):
        size, times = _repeats(lines, at)
        kept += lines[at : at + size]
        if times > 1 and any(lines[at : at + size]):
            kept[-1] += f" ({_TIMES}{times})" if size == 1 else f" (these {size} lines {_TIMES}{times})"
        at += size * times
    return kept


def _repeats(lines: list[str], at: int) -> tuple[int, int]:
    first = lines[at]
    for size in range(1, min(5, len(lines) - at)):
        if lines[at + size] != first:
            continue
        times = 1
        block = lines[at : at + size]
        while lines[at + size * times : at + size * (times + 1)] == block:
            times += 1
        if times > 1:
            return size, times
    return 1, 1


def _without_known_frames(lines: list[str]) -> tuple[list[str], int]:
    """Drop stack frames that stood in an earlier trace; a Python frame takes its source line with it."""
    seen: set[str] = set()
    kept: list[str] = []
    dropped = 0
    follows = False
    for line in lines:
        is_frame = _FRAME.match(line) is not None
        if (is_frame and line in seen) or (follows and not is_frame and line.startswith("    ")):
            dropped += is_frame
            follows = True
            continue
        follows = False
        if is_frame:
            seen.add(line)
        kept.append(line)
    return kept, dropped
