from __future__ import annotations

import math  # noqa: TC003 - tools are declared with it at run time
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from hermes_bot.ports import ToolContext  # noqa: TC001 - as above
from hermes_bot.tools.arguments import BadArgumentsError
from hermes_bot.tools.cards import card_of
from hermes_bot.tools.declare import Tool, tool


@tool(
    example={"query": "timeout", "tags": ["a"]},
    errors={"not_found": "nothing fits"},
    timeout=7,
    max_chars=900,
)
async def find(  # noqa: PLR0913 - one parameter of each kind
    query: Annotated[str, Field(description="what to look for")],
    ctx: ToolContext,
    tags: list[str],
    *,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    share: float = 1.0,
    deep: bool = False,
    order: Literal["up", "down"] = "up",
    since: str | None = None,
    where: dict[str, Any] | None = None,
) -> str:
    """Look for something (first 50 hits).

    More for people who read the code.
    """
    return f"{ctx.key}{query}{tags}{limit}{share}{deep}{order}{since}{where}"


def test_a_function_becomes_a_tool_with_a_schema_without_the_context() -> None:
    assert find.name == "find"
    assert find.summary == "Look for something (first 50 hits)."
    assert set(find.schema["properties"]) == {
        *("query", "tags", "limit", "share", "deep", "order", "since", "where")
    }
    assert find.schema["required"] == ["query", "tags"]
    assert find.schema["additionalProperties"] is False
    assert "title" not in str(find.schema)
    assert (find.timeout, find.max_chars, find.risk, find.is_idempotent) == (7, 900, "read", True)


def test_the_card_states_limit_example_and_error_codes_in_one_line() -> None:
    card = card_of(find)
    assert card.summary == (
        'Look for something (first 50 hits). Example: {"query":"timeout","tags":["a"]}. '
        "Errors: not_found (nothing fits)."
    )
    assert "\n" not in card.summary


@pytest.mark.parametrize(
    ("given_args", "canonical"),
    [
        ({"query": "q", "tags": '["a", "b"]'}, {"query": "q", "tags": ["a", "b"]}),
        ({"query": "q", "tags": "a"}, {"query": "q", "tags": ["a"]}),
        ({"query": "q", "tags": [], "limit": "12"}, {"query": "q", "tags": [], "limit": 12}),
        ({"query": "q", "tags": [], "limit": 12.0}, {"query": "q", "tags": [], "limit": 12}),
        ({"query": "q", "tags": [], "share": "0.5"}, {"query": "q", "tags": [], "share": 0.5}),
        ({"query": "q", "tags": [], "deep": "yes"}, {"query": "q", "tags": [], "deep": True}),
        ({"query": "q", "tags": [], "deep": "off"}, {"query": "q", "tags": []}),
        ({"query": "q", "tags": [], "deep": 1}, {"query": "q", "tags": [], "deep": True}),
        ({"query": 500, "tags": []}, {"query": "500", "tags": []}),
        ({"query": "q", "tags": [], "limit": None}, {"query": "q", "tags": []}),
        ({"query": "q", "tags": [], "limit": " "}, {"query": "q", "tags": []}),
        ({"query": "q", "tags": [], "since": 9}, {"query": "q", "tags": [], "since": "9"}),
        ({"query": "q", "tags": [], "where": '{"a": 1}'}, {"query": "q", "tags": [], "where": {"a": 1}}),
        ('{"query": "q", "tags": []}', {"query": "q", "tags": []}),
        ({"query": "q", "tags": [], "limit": 10}, {"query": "q", "tags": []}),  # a default says nothing
    ],
)
def test_arguments_are_read_where_the_meaning_is_plain(given_args: object, canonical: object) -> None:
    assert find.read_arguments(given_args) == canonical


@pytest.mark.parametrize(
    ("given_args", "said"),
    [
        ({}, ["`query` is missing: string (what to look for)", "`tags` is missing: list of string"]),
        ({"qurey": "q", "query": "q", "tags": []}, ["`qurey` is no field (did you mean `query`?)"]),
        (
            {"query": "q", "tags": [], "limit": "many"},
            ["`limit` should be integer from 1 up to 50", '"many"'],
        ),
        ({"query": "q", "tags": [], "limit": 99}, ["`limit` should be integer from 1 up to 50, not 99"]),
        ({"query": "q", "tags": [], "order": "left"}, ['`order` should be one of "up", "down", not "left"']),
        ({"query": ["q"], "tags": []}, ["`query` should be string"]),
        ([1], ["one JSON object"]),
    ],
)
def test_a_misfit_names_each_field_and_what_it_should_be(given_args: object, said: list[str]) -> None:
    with pytest.raises(BadArgumentsError) as caught:
        find.read_arguments(given_args)
    for words in said:
        assert words in str(caught.value)


@pytest.mark.parametrize("nothing", ["", "  ", None, {}, "{}", "null"])
def test_no_arguments_are_no_fields_where_nothing_is_required(nothing: object) -> None:
    @tool()
    async def ping(loud: str = "no") -> str:
        """Say that it works (one word)."""
        return loud

    assert ping.read_arguments(nothing) == {}


def test_an_untyped_parameter_is_refused_at_declaration() -> None:
    def broken(path) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the fault under test
        """Read."""
        return str(path)

    with pytest.raises(TypeError, match="parameter 'path' has no type"):
        tool()(broken)


def test_a_missing_docstring_is_refused_at_declaration() -> None:
    def silent(path: str) -> str:
        return path

    with pytest.raises(TypeError, match="silent: it has no docstring"):
        tool(example={"path": "x"})(silent)


def test_an_example_that_does_not_fit_is_refused_at_declaration() -> None:
    def read(path: str) -> str:
        """Read."""
        return path

    with pytest.raises(TypeError, match="its example is no valid call: `pfad` is no field"):
        tool(example={"pfad": "x"})(read)
    with pytest.raises(TypeError, match="`path` is missing"):
        tool()(read)


def test_a_type_without_a_schema_is_refused_at_declaration() -> None:
    def odd(thing: math.floor) -> str:  # type: ignore[valid-type]
        """Do."""
        return str(thing)

    def typo(thing: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821 - the fault under test
        """Do."""
        return str(thing)

    with pytest.raises(TypeError, match="odd: a parameter's type makes no schema"):
        tool()(odd)
    with pytest.raises(TypeError, match="the type 'Nowhere' is not known at run time"):
        tool()(typo)


def test_a_discovered_tool_is_validated_by_its_schema_alone() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    found = Tool("server.count", "Count (up to 100).", schema, lambda args, _ctx: args["n"])
    assert found.read_arguments({"n": "3"}) == {"n": 3}
    with pytest.raises(BadArgumentsError, match="`n` should be integer, not"):
        found.read_arguments({"n": "three"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(["query", "tags", "limit", "share", "deep", "order", "since", "where", "other"])


@given(st.dictionaries(FIELDS, JSON, max_size=9) | JSON)
def test_any_arguments_are_read_or_refused_in_words(given_args: Any) -> None:
    try:
        args = find.read_arguments(given_args)
    except BadArgumentsError as refusal:
        assert str(refusal)  # noqa: PT017 - either way is right, and each is checked
    else:
        assert find.read_arguments(args) == args
