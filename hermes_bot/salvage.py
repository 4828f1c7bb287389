"""Knows how objects and written calls are found in a model's raw output. Pure; loses and invents nothing.

A model wraps its one object in prose, fences and thoughts, writes it almost as JSON, or as XML. What is read
here is exactly what stands there: where reading would have to guess, ``Unreadable`` says what was wrong.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.messages import Json

LONGEST = 262_144  # characters that are searched; no decision is that long, a flood of garbage is
REPAIR_LONGEST = 65_536
DEEPEST = 32
MOST_OBJECTS = 16
PROSE = frozenset({"thought", "thoughts", "reasoning", "answer", "final_answer", "question"})

Object: TypeAlias = "dict[str, Json]"

_THOUGHT = "think|thinking|reasoning"
_STARTS = re.compile(r"""\{\s*(?:["'“”}]|[A-Za-z_]\w*\s*:|$)""")  # an object, and not {a placeholder}
_INSIDE = re.compile(  # strings whole, so that brackets in them do not count; ``lone`` is one never closed
    r"""(?P<string>"(?:[^"\\]++|\\.)*+"|(?<=[{\[,:\s])'(?:[^'\\]++|\\.)*+'(?=\s*[,:}\]]))"""
    r"""|(?P<open>[{\[])|(?P<close>[}\]])|(?P<lone>")""",
    re.DOTALL,
)
_TOP = re.compile(
    rf"(?P<brace>\{{)|<(?P<think>{_THOUGHT})>|(?P<thought_end></(?:{_THOUGHT})>)"
    r"|<(?P<xml>function(?==)|invoke(?=\s)|(?:tool_call|function_call|tool_use)(?=>\s*<))",
    re.IGNORECASE,
)
_ALMOST = re.compile(
    r"""(?P<double>"(?:[^"\\]++|\\.)*+")|(?P<single>'(?:[^'\\]++|\\.)*+')"""
    r"""|(?P<comma>,(?=\s*[}\]]))|\b(?P<word>True|False|None)\b""",
    re.DOTALL,
)
_LEADING = re.compile(rf"^\s*<({_THOUGHT})>.*?(?:</\1>|$)", re.DOTALL | re.IGNORECASE)
_DANGLING = re.compile(rf"^[^{{<]*</(?:{_THOUGHT})>", re.IGNORECASE)
_QUOTED = re.compile(r""""(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|“[^“”]*”""", re.DOTALL)
_BARE = re.compile(r"[\w.-]+")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_TAGS_BEFORE = re.compile(r"(?:<[\w|]+>\s*)+$")
_CALLED = re.compile(
    r"<(?:function=|invoke\s+name=)[\"']?([\w.:-]+)[\"']?\s*>(.*)</(?:function|invoke)>", re.DOTALL
)
_NAMED = re.compile(
    r"<\w+>\s*<(name|tool_name|tool|function)>\s*([\w.:-]+)\s*</\1>\s*"
    r"(?:<(arguments|args|parameters|params|input)>(.*)</\3>)?\s*</\w+>",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"\s*<(?P<tag>parameter(?=[\s=])|\w+)(?:=|\s+name=)?[\"']?(?P<name>[\w.-]*)[\"']?\s*>(?P<value>.*?)</(?P=tag)>\s*",
    re.DOTALL,
)
_NOT_CONTENT = re.compile(r"""[\s"'\u201c\u201d\u2018\u2019`,:{}\[\]\\]+""")
_PAIR = re.compile(
    r"""\\(?:(?P<valid>["\\/]|u[0-9a-fA-F]{4})|(?P<letter>[bfnrt])|(?P<quote>')|(?P<none>.))""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class Unreadable(ValueError):  # noqa: N818 - reads as the fact it states
    """The output, or a part that matters, cannot be read; the text tells the model what was wrong."""


def load(text: str) -> Json:
    """Read strict JSON.

    Raises:
        Unreadable: one key stands twice with two values, or the nesting is too deep.
        ValueError: it is no JSON.
    """
    try:
        value: Json = _STRICT.decode(text)
    except RecursionError:
        raise _too_deep() from None
    stored: Json = _storable(value, text)
    return stored


def read_object(text: str) -> Object:
    """Read one balanced object that is almost JSON: exactly where that can be done, else by repair.

    json-repair takes 1.6 ms a KB of escaped text; what is read without it takes microseconds.

    Raises:
        Unreadable: it is no object, or its repair would drop or invent something.
    """
    for form in (text, _ALMOST.sub(_as_json, text)):
        try:
            value, end = _LOOSE.raw_decode(form)
        except Unreadable:
            raise
        except (ValueError, RecursionError):
            continue
        if end == len(form) and isinstance(value, dict):
            break
    else:
        value = _repaired(text)
    found: Object = _storable(value, text)
    return found


def objects(text: str) -> list[Object]:
    """Return the objects and written calls of a text in order; thoughts and quotations hold none.

    Raises:
        Unreadable: an object or call is cut, or cannot be read without guessing.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"Your output is over {LONGEST:,} characters. Answer with one short JSON object.")
    text = _unwrapped(text.strip())
    found: list[Object] = []
    at = 0
    while (mark := _TOP.search(text, at)) and len(found) < MOST_OBJECTS:
        start = mark.start()
        if mark["thought_end"]:  # the opening tag stood in the prompt, so all before it was thought
            found.clear()
            at = mark.end()
        elif mark["think"]:
            at = _after(text, f"</{mark['think']}>", mark.end())
        elif mark["brace"] and not _STARTS.match(text, start):
            at = mark.end()
        else:
            at = _end_of_object(text, start) if mark["brace"] else _end_of_call(text, start, mark["xml"])
            if not _is_quoted(text, start):
                found.append(read_object(text[start:at]) if mark["brace"] else _written_call(text[start:at]))
    return found


def one_object(text: str) -> Object:
    """Return the one object of a text.

    Raises:
        Unreadable: there is none, more than one, or it is cut.
    """
    found = objects(text)
    if len(found) != 1:
        raise Unreadable("The arguments must be one complete JSON object.")
    return found[0]


def without_thoughts(text: str) -> str:
    """Return the text without its leading thoughts, those whose opening tag stood in the prompt too."""
    return _DANGLING.sub("", _LEADING.sub("", text)).strip() if "<" in text else text.strip()


def _unwrapped(text: str) -> str:
    is_code = text.startswith("`") and text.endswith("`") and not text.startswith("```")
    return text[1:-1] if is_code else text


def _after(text: str, tag: str, start: int) -> int:
    """Return where the text goes on after a closing tag; a thought that is not closed takes the rest."""
    closing = re.compile(re.escape(tag), re.IGNORECASE).search(text, start)
    return closing.end() if closing else len(text)


def _end_of_object(text: str, start: int) -> int:
    stack: list[str] = []
    for token in _INSIDE.finditer(text, start):
        if token["open"]:
            stack.append(token["open"])
        elif token["close"]:
            if stack.pop() + token["close"] not in ("{}", "[]"):
                raise Unreadable("The brackets of your JSON do not match. Write one complete JSON object.")
            if not stack:
                return token.end()
        elif token["lone"]:
            raise Unreadable(
                "A string in your JSON is not closed. Escape quotes inside strings; write it whole."
            )
    raise Unreadable("Your JSON object is not closed. Write one complete, shorter JSON object.")


def _end_of_call(text: str, start: int, tag: str) -> int:
    end = text.find(f"</{tag}>", start)
    if end < 0:
        raise Unreadable(f"<{tag}> is not closed. Answer with one complete JSON object instead.")
    return end + len(tag) + 3


def _is_quoted(text: str, start: int) -> bool:
    """Whether what starts here is only quoted: in inline code, quotation marks or a quoted line."""
    before = text[max(0, start - 80) : start]
    if before.rstrip().endswith(">"):
        before = _TAGS_BEFORE.sub("", before)
    if before.endswith(('"', "'", "`")) and not before.endswith("```"):
        return True
    return text[text.rfind("\n", 0, start) + 1 : start].lstrip().startswith(">")


def _written_call(source: str) -> Object:
    """Read ``<function=NAME>…``, ``<invoke name="NAME">…`` or ``<tool_call><name>NAME</name>…``."""
    if called := _CALLED.search(source):
        return {"name": called[1], "args": _parameters(called[2])}
    if named := _NAMED.fullmatch(source):
        return {"name": named[2], "args": _parameters(named[4] or "")}
    raise Unreadable("Your XML call cannot be read. Answer with one JSON object instead.")


def _parameters(body: str) -> Object:
    body = body.strip()
    if body.startswith("{"):
        return one_object(body)
    found: Object = {}
    at = 0
    while at < len(body):
        one = _PARAMETER.match(body, at)
        name = "" if one is None else one["name"] or one["tag"]
        if one is None or name in found:
            raise Unreadable("The parameters of your XML call cannot be read. Answer with one JSON object.")
        found[name] = one["value"].removeprefix("\n").removesuffix("\n")
        at = one.end()
    return found


def _as_json(token: re.Match[str]) -> str:
    if token["comma"]:
        return ""
    if token["word"]:
        return _WORDS[token["word"]]
    if token["double"]:
        return _with_escapes(token["double"])
    inner = token["single"][1:-1].replace("\\'", "'")
    return _with_escapes('"' + re.sub(r'(?<!\\)"', '\\"', inner) + '"')


def _with_escapes(string: str) -> str:
    r"""Escape what a string holds unescaped: line ends, and backslashes as in the pattern ``\d+\.``.

    Where it also holds ``\n`` or the like one cannot know what was meant, and it is left to fail.
    """
    pairs = list(_PAIR.finditer(string))
    if not (any(pair["none"] for pair in pairs) and any(pair["letter"] for pair in pairs)):
        string = _PAIR.sub(lambda pair: "'" if pair["quote"] else "\\" * bool(pair["none"]) + pair[0], string)
    return string.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def _repaired(text: str) -> Object:
    """Repair by json-repair, and accept it only where all of the source, and nothing else, came through."""
    if len(text) > REPAIR_LONGEST:
        raise Unreadable("Your JSON has an error and is too long to repair. Write it again, shorter.")
    import json_repair  # noqa: PLC0415 - 20 ms at start-up, and most runs never need it

    try:
        value = json_repair.repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError, AttributeError):
        value = None
    if isinstance(value, dict) and _same_content(text, value):  # it also trims strings, which is found here
        return value
    raise Unreadable("Your JSON cannot be read without guessing. Escape quotes and backslashes in strings.")


def _same_content(text: str, value: Object) -> bool:
    """Whether a repair holds all that the source says, each string as it stood there, and no other key."""
    strings = list(_strings(value))
    quotes = 2 * len(strings) + sum(string.count('"') for _, string in strings)
    written = {_written(token[0]) for token in _QUOTED.finditer(text)} | set(
        _BARE.findall(_QUOTED.sub(" ", text))
    )
    return (
        _content(text) == _content(json.dumps(value, ensure_ascii=False))
        and text.count('"') <= quotes
        and all(key in PROSE or string in written for key, string in strings)
        and all(re.search(re.escape(key) + r"[\"'“”]?\s*:", text) for key, string in strings if key == string)
    )


def _written(token: str) -> Json:
    """Return what a quoted string of the source says; None where that is not plain."""
    try:
        string: Json = _LOOSE.decode(_ALMOST.sub(_as_json, f'"{token[1:-1]}"' if token[0] == "“" else token))
    except ValueError:
        return None
    return string


def _strings(value: Json, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each string with the key it stands under; a key stands under itself."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name, name
            yield from _strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)


def _content(text: str) -> str:
    """Return what a JSON text says, without quotes, brackets and spaces."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", text)
    return re.sub(r"\bnone\b", "null", _NOT_CONTENT.sub(" ", plain).casefold()).replace(" ", "")


def _once(pairs: list[tuple[str, Json]]) -> Object:
    value = dict(pairs)
    if len(value) != len(pairs):
        for key, inner in pairs:
            if value[key] != inner:
                raise Unreadable(f'The key "{key[:40]}" stands twice in one object. Write it once.')
    return value


def _finite(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _storable(value: Any, source: str) -> Any:
    """Return the value as it can be stored: not too deep, no half of a surrogate pair in a string."""
    if source.count("{") + source.count("[") > DEEPEST and _depth(value) > DEEPEST:
        raise _too_deep()
    return _whole(value) if "\\ud" in source.lower() or not _encodes(source) else value


def _too_deep() -> Unreadable:
    return Unreadable(f"Your JSON is nested more than {DEEPEST} deep. Write a flatter object.")


def _depth(value: Json) -> int:
    depth, level = 0, [value]
    while level := [inner for outer in level if isinstance(outer, dict | list) for inner in _members(outer)]:
        depth += 1
        if depth > DEEPEST:
            break
    return depth


def _members(value: dict[str, Json] | list[Json]) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else value


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(_whole(key)): _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return value


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=str)
_LOOSE = json.JSONDecoder(strict=False, object_pairs_hook=_once, parse_float=_finite, parse_constant=str)
