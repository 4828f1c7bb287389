"""Templates are sandboxed, strict and bounded; what they are filled with is never one itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.errors import SkillError
from hermes_bot.skills.templates import (
    code,
    evaluate,
    fence,
    fill,
    moment,
    names_in,
    parts_in,
    render,
    value_of,
)

if TYPE_CHECKING:
    from hermes_bot.messages import Json

NAMES: dict[str, Any] = {
    "logs": {"ok": True, "data": {"items": [1, 2], "errors": 0, "values": "v", "name": "x"}},
    "text": "{{ 7*7 }}",
    "none": None,
}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{ logs.data }}", NAMES["logs"]["data"]),
        (" {{- logs.data['items'] -}} ", [1, 2]),
        ("{{ logs.data.items }}", [1, 2]),
        ("{{ logs.data.values }}", "v"),
        ("{{ logs.data.errors == 0 }}", True),
        ("{{ none }}", None),
        ("{{ logs.data.items | map('string') }}", ["1", "2"]),
        ("{{ text }}", "{{ 7*7 }}"),
        ("{{ 'a }} {{ b' }}", "a }} {{ b"),
        ("{{ 1 }}{{ 2 }}", "12"),
        ("n: {{ logs.data.errors }}", "n: 0"),
        ("{% if logs.ok %}yes{% endif %}", "yes"),
    ],
)
def test_one_expression_gives_its_own_value_and_anything_else_a_text(source: str, value: object) -> None:
    assert value_of(source, NAMES, where="here") == value


def test_arguments_are_filled_however_deep_they_are() -> None:
    given_args: dict[str, Json] = {
        "a": ["{{ text }}", {"b": "{{ logs.data.items }}"}],
        "n": 5,
        "plain": "{ x }",
    }
    assert fill(given_args, NAMES, where="here") == {
        "a": ["{{ 7*7 }}", {"b": [1, 2]}],
        "n": 5,
        "plain": "{ x }",
    }


@pytest.mark.parametrize(
    "source",
    [
        "{{ logz.data }}",
        "{{ logs.dta }}",
        "{{ logs.data.nope }}",
        "{{ [logs.nope] }}",
        "a {{ logz }} b",
        "{{ text.x }}",
    ],
)
def test_an_undefined_name_is_an_error_that_says_where(source: str) -> None:
    with pytest.raises(SkillError, match=r"^step a: .*(undefined|no attribute)"):
        value_of(source, NAMES, where="step a")


@pytest.mark.parametrize(
    "source",
    [
        "{{ text.__class__ }}",
        "{{ text.__class__.__mro__[1].__subclasses__() }}",
        "{{ logs.__init__.__globals__ }}",
        "{{ logs.data.update({'a': 1}) }}",
        "{{ logs.data['items'].append(1) }}",
        "{{ range(10000000) | list }}",
        "{{ 'x' * 1000000000 }}",
        "{{ [0] * 1000000000 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ cycler }}",
        "{% include 'x' %}",
        "{{ 1 / 0 }}",
        "{{ unclosed",
        "{% for x in range(99999) %}{% for y in range(99999) %}xx{% endfor %}{% endfor %}",
    ],
)
def test_a_template_cannot_leave_its_sandbox_or_grow_without_bound(source: str) -> None:
    before = str(NAMES)
    with pytest.raises(SkillError):
        value_of(source, NAMES, where="here")
    assert str(NAMES) == before


@pytest.mark.parametrize("source", ["logs.data.errors == 0", "{{ logs.data.errors == 0 }}"])
def test_an_expression_may_stand_with_or_without_braces(source: str) -> None:
    assert evaluate(source, NAMES, where="here") is True


def test_an_expression_with_text_around_it_is_none() -> None:
    with pytest.raises(SkillError, match="no single expression"):
        evaluate("x {{ logs.ok }}", NAMES, where="here")


def test_the_names_a_template_takes_are_known_without_running_it() -> None:
    assert names_in("{% for x in a.b %}{{ x }}{{ c }}{% endfor %}", where="here") == {"a", "c"}
    assert names_in("a.b > c", where="here") == {"a", "c"}
    assert parts_in("{{ a.b.c }} {{ d['e'] }}", where="here") == {("a", "b")}


@given(st.text(max_size=200))
def test_no_text_leaves_its_fence_or_its_span(text: str) -> None:
    ticks = fence(text).split("\n", 1)[0]
    assert ticks not in fence(text).removeprefix(ticks).removesuffix(ticks)
    assert render("{{ t | code }}", {"t": text}, where="here") == code(text)
    assert "\n" not in code(text)


def test_an_instant_is_shown_as_people_read_it() -> None:
    assert moment("2026-11-03T07:45:00Z") == "2026-11-03 07:45:00 UTC"
    assert moment("since the last deploy") == "since the last deploy"
