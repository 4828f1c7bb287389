"""Knows how a model's arguments are read against a JSON schema: coerced, then named where they are wrong."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_bot.markdown import clip
from hermes_bot.messages import Json

Schema = Mapping[str, Any]

_DEPTH = 30  # deeper values are left as they are; no tool of sense nests so far
_TRUE = frozenset({"yes", "true", "on", "1", "y"})
_FALSE = frozenset({"no", "false", "off", "0", "n"})


class BadArgumentsError(ValueError):
    """Arguments do not fit; the text names each field and what it should be."""


def coerce_arguments(given: object, schema: Schema) -> dict[str, Json]:
    """Return the arguments as the schema wants them, where what the model meant is plain.

    JSON in a string is opened, numbers and booleans are read from words, a single value becomes a list of
    one, an empty optional value is left out (design §4.3). What cannot be read stays as it is.

    Raises:
        BadArgumentsError: ``given`` is no object of fields at all.
    """
    fields = schema.get("properties", {})
    required = schema.get("required", ())
    coerced: dict[str, Json] = {}
    for name, value in _opened(given).items():
        spec = fields.get(name)
        if spec is not None and name not in required and _is_empty(value, spec, schema):
            continue
        coerced[name] = value if spec is None else _coerce(value, spec, schema, 0)
    return coerced


def check_fields(args: Mapping[str, Json], schema: Schema) -> None:
    """Check names and types.

    Raises:
        BadArgumentsError: fields are unknown, missing or of another type.
    """
    problems = list(_problems(args, schema))
    if problems:
        raise BadArgumentsError("; ".join(problems) + ".")


def expected(spec: Schema, root: Schema) -> str:
    """Say in words what a schema asks for: ``integer from 1``, ``list of string``."""
    spec = _resolved(spec, root)
    words = _type_words(spec, root)
    about = str(spec.get("description", "")).rstrip(".")
    return f"{words} ({about})" if about else words


def describe(name: str, value: Json, schema: Schema) -> str:
    """Say that a field holds the wrong thing, and what it should be."""
    spec = schema.get("properties", {}).get(name, {})
    return f"`{name}` should be {expected(spec, schema)}, not {_shown(value)}"


def _opened(given: object) -> Mapping[str, Json]:
    if isinstance(given, str):
        given = _parsed(given) if given.strip() else None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadArgumentsError("The arguments should be one JSON object of named fields.")
    return given


def _parsed(text: str) -> Json:
    try:
        opened: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return opened


def _is_empty(value: Json, spec: Schema, root: Schema) -> bool:
    if value is None:
        return "null" not in _types(spec, root)
    return isinstance(value, str) and not value.strip() and "string" not in _types(spec, root)


def _coerce(value: Json, spec: Schema, root: Schema, depth: int) -> Json:  # noqa: PLR0911 - one for each type
    spec = _resolved(spec, root)
    if depth > _DEPTH:
        return value
    if "anyOf" in spec:
        return _coerce_union(value, spec["anyOf"], root, depth)
    match spec.get("type"):
        case "array":
            items = spec.get("items", {})
            return [_coerce(item, items, root, depth + 1) for item in _as_list(value)]
        case "object":
            return _coerce_object(value, spec, root, depth)
        case "integer" | "number" as kind:
            return _as_number(value, whole=kind == "integer")
        case "boolean":
            return _as_boolean(value)
        case "string" if isinstance(value, bool | int | float):
            return json.dumps(value)
        case _:
            return value


def _coerce_union(value: Json, specs: Sequence[Schema], root: Schema, depth: int) -> Json:
    if any(_fits(value, spec, root) for spec in specs):
        return value
    for spec in specs:
        candidate = _coerce(value, spec, root, depth + 1)
        if _fits(candidate, spec, root):
            return candidate
    return value


def _coerce_object(value: Json, spec: Schema, root: Schema, depth: int) -> Json:
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, Mapping):
        return value
    fields = spec.get("properties", {})
    return {
        name: _coerce(item, fields[name], root, depth + 1) if name in fields else item
        for name, item in value.items()
    }


def _as_list(value: Json) -> Sequence[Json]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parsed(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    return [value]


def _as_number(value: Json, *, whole: bool) -> Json:
    if isinstance(value, str):
        value = _number_in(value)
    if whole and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _number_in(text: str) -> Json:
    plain = text.strip().replace("_", "")
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return text


def _as_boolean(value: Json) -> Json:
    if isinstance(value, str | int) and not isinstance(value, bool):
        word = str(value).strip().lower()
        if word in _TRUE | _FALSE:
            return word in _TRUE
    return value


def _resolved(spec: Schema, root: Schema) -> Schema:
    for _ in range(_DEPTH):
        reference = spec.get("$ref")
        if not isinstance(reference, str):
            break
        target = root.get("$defs", {}).get(reference.rpartition("/")[2], {})
        spec = {**target, **{key: value for key, value in spec.items() if key != "$ref"}}
    return spec


def _types(spec: Schema, root: Schema) -> frozenset[str]:
    """Return the JSON types a schema takes; empty where it takes any."""
    spec = _resolved(spec, root)
    if "anyOf" in spec:
        return frozenset().union(*(_types(one, root) for one in spec["anyOf"]))
    kind = spec.get("type")
    return frozenset([kind] if isinstance(kind, str) else kind or ())


def _fits(value: Json, spec: Schema, root: Schema) -> bool:
    spec = _resolved(spec, root)
    if "anyOf" in spec:
        return any(_fits(value, one, root) for one in spec["anyOf"])
    types = _types(spec, root)
    if types and not types & _types_of(value):
        return False
    allowed = spec.get("enum", [spec["const"]] if "const" in spec else None)
    return allowed is None or value in allowed


def _types_of(value: Json) -> frozenset[str]:  # noqa: PLR0911 - one for each type
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float():
            return frozenset({"number", "integer"} if value.is_integer() else {"number"})
        case str():
            return frozenset({"string"})
        case Mapping():
            return frozenset({"object"})
        case _:
            return frozenset({"array"})


def _problems(args: Mapping[str, Json], schema: Schema) -> Iterator[str]:
    fields = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        for name in args:
            if name not in fields:
                yield _unknown(str(name), fields)
    for name in schema.get("required", ()):
        if name not in args:
            yield f"`{name}` is missing: {expected(fields.get(name, {}), schema)}"
    for name, value in args.items():
        if name in fields and not _fits(value, fields[name], schema):
            yield describe(name, value, schema)


def _unknown(name: str, fields: Mapping[str, Schema]) -> str:
    near = difflib.get_close_matches(name, fields, n=1)
    if near:
        return f"`{name[:60]}` is no field (did you mean `{near[0]}`?)"
    return f"`{name[:60]}` is no field (there are: {', '.join(fields) or 'none'})"


def _type_words(spec: Schema, root: Schema) -> str:
    if "enum" in spec or "const" in spec:
        return "one of " + ", ".join(json.dumps(one) for one in spec.get("enum", [spec.get("const")]))
    if "anyOf" in spec:
        kinds = [_type_words(_resolved(one, root), root) for one in spec["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null") or "null"
    kind = spec.get("type", "any value")
    if kind == "array":
        return f"list of {_type_words(_resolved(spec.get('items', {}), root), root)}"
    return " ".join([str(spec.get("format", kind)), *_bounds(spec)])


def _bounds(spec: Schema) -> Iterator[str]:
    low, high = spec.get("minimum", spec.get("exclusiveMinimum")), spec.get("maximum")
    if low is not None:
        yield f"from {low}" if "minimum" in spec else f"over {low}"
    if high is not None:
        yield f"up to {high}"
    if "maxLength" in spec:
        yield f"of at most {spec['maxLength']:,} characters"


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return clip(text, 60)  # a taste of the value, no more
