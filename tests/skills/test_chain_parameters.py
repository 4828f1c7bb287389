"""Parameters come out of people's words; what is missing is asked once; what was given is kept."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skills.chain_fakes import BERLIN, NOW, SERVICES, FakeToolbox, Stage, ok, report_of, skill_in

from hermes_bot.messages import Result
from hermes_bot.skills import Parameter, Words, fill, question_for
from hermes_bot.skills.params import answer, complete

if TYPE_CHECKING:
    from hermes_bot.skills import Filled

DIALOGUE = Path(__file__).parents[3] / "shared" / "cases" / "logs" / "dialogue.jsonl"
LOGS = (
    Parameter("service", "string", is_required=True, ask="Which service?", options_from="list_services"),
    Parameter("since", "time", is_required=True, ask="Since when?", options=("last hour", "since yesterday")),
    Parameter("until", "time"),
)
WORDS = Words(NOW, BERLIN, {"list_services": lambda: SERVICES})
CHAIN = """
parameters:
  service: {type: string, required: true, ask: "Which service?", options_from: list_services}
  since: {type: time, required: true, ask: "Since when?", options: ["last hour", "since yesterday"]}
  region: {type: choice, required: true, options: [eu, us]}
steps:
  - {id: a, tool: one, args: {service: "{{ service }}", since: "{{ since }}", region: "{{ region }}"}}
  - {id: b, say: "{{ service }} {{ since }} {{ region }}"}
"""


def said(text: str, *answers: str, parameters: tuple[Parameter, ...] = LOGS) -> Filled:
    filled = fill(parameters, text, WORDS)
    for one in answers:
        filled = answer(parameters, filled, one, WORDS)
    return filled


def asked(filled: Filled, parameters: tuple[Parameter, ...] = LOGS) -> tuple[str, tuple[str, ...], str]:
    return question_for(parameters, filled, WORDS.options)


def dialogue() -> list[dict[str, Any]]:
    if not DIALOGUE.is_file():
        return []
    return [json.loads(line) for line in DIALOGUE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.shared
@pytest.mark.skipif(not DIALOGUE.is_file(), reason="../shared is not here")
@pytest.mark.parametrize("case", dialogue(), ids=lambda case: str(case["id"]))
def test_a_dialogue_asks_for_what_is_missing_and_only_for_that(case: dict[str, Any]) -> None:
    services = case["services"]
    words = Words(
        datetime.fromisoformat(case["now"]), ZoneInfo(case["tz"]), {"list_services": lambda: services}
    )
    filled = fill(LOGS, case["thread"][0], words)
    for text in case["thread"][1:]:
        filled = answer(LOGS, filled, text, words)

    expected = case["expect"]
    missing = [{"since": "window"}.get(name, name) for name in filled.missing]
    assert missing == expected["missing"]
    assert {name: filled.values[name] for name in expected.get("params", {})} == expected.get("params", {})
    if "suggest" in expected:
        assert filled.suggestions["service"] == (expected["suggest"],)
    if expected["action"] == "ask":
        text, options, _ = question_for(LOGS, filled, words.options)
        if "service" in missing:
            assert all(service in text or service in options for service in services)


def test_a_near_name_is_offered_and_not_taken() -> None:
    filled = said("diagnose chekout last hour")
    assert "service" not in filled.values
    text, options, field = asked(filled)
    assert text == "I know no service “chekout”. Did you mean checkout?"
    assert (options[0], field) == ("checkout", "service")
    assert said("diagnose chekout last hour", "yes").values["service"] == "checkout"
    assert said("diagnose chekout", "Yes, since 9").missing == ()


def test_an_unknown_name_is_said_and_the_known_ones_are_offered() -> None:
    text, options, field = asked(said("diagnose billing last hour"))
    assert text == "I know no service “billing”. Which service?"
    assert (options, field) == (SERVICES, "service")


@pytest.mark.parametrize("text", ["why is billing slow", "look at the billing service", "errors in billing?"])
def test_a_word_where_a_name_belongs_is_taken_for_one(text: str) -> None:
    assert said(text).problems == {"service": "I know no service “billing”."}


@pytest.mark.parametrize(
    "text", ["diagnose the logs", "is everything ok?", "why is it so slow", "errors today?"]
)
def test_ordinary_words_are_no_names(text: str) -> None:
    assert said(text).problems == {}


def test_two_names_are_not_chosen_between() -> None:
    filled = said("compare checkout and auth, last hour")
    assert filled.missing == ("service",)
    assert "You named checkout, auth" in asked(filled)[0]


def test_a_longer_name_hides_the_shorter_in_it() -> None:
    names = ("nginx", "nginx-edge")
    words = Words(NOW, BERLIN, {"list_services": lambda: names})
    assert fill(LOGS, "why is nginx-edge slow?", words).values["service"] == "nginx-edge"
    assert fill(LOGS, "why is Nginx's log empty?", words).values["service"] == "nginx"


@pytest.mark.parametrize(
    "text", ["checkout since 9", "since 9, checkout", 'service=checkout since="since 9"']
)
def test_one_answer_may_give_all_that_is_missing(text: str) -> None:
    filled = said("diagnose the logs", text)
    assert filled.missing == ()
    assert (filled.values["service"], filled.values["since"]) == ("checkout", "2026-11-03T08:00:00Z")


def test_what_an_answer_does_not_give_is_asked_alone() -> None:
    assert asked(said("diagnose the logs", "checkout")) == (
        "Since when?",
        ("last hour", "since yesterday"),
        "since",
    )


@pytest.mark.parametrize("text", ["2", "Since Yesterday", " since yesterday. "])
def test_an_option_is_picked_by_number_or_label(text: str) -> None:
    filled = said("why is checkout failing?", text)
    assert filled.values["since"] == "2026-11-01T23:00:00Z"  # Berlin's midnight


@pytest.mark.parametrize("text", ["7", "0", "whatever you think", ""])
def test_prose_is_no_choice(text: str) -> None:
    place = (Parameter("place", "choice", is_required=True, options=("staging", "production")),)
    filled = said("deploy", text, parameters=place)
    assert filled.missing == ("place",)
    assert asked(filled, place)[1] == ("staging", "production")
    assert said("deploy", text, " PRODUCTION ", parameters=place).values == {"place": "production"}


@pytest.mark.parametrize("text", ["0", "no", "none", "any sentence at all"])
def test_every_text_answers_an_open_question(text: str) -> None:
    note = (Parameter("note", "string", is_required=True),)
    assert said("go", text, parameters=note).values == {"note": text}


def test_a_number_answers_a_question_for_a_number() -> None:
    tries = (Parameter("retries", "integer", is_required=True, options=("5", "10")),)
    assert said("go", "0", parameters=tries).values == {"retries": 0}
    assert said("retries: 3", parameters=tries).values == {"retries": 3}
    text = asked(said("go", "a few", parameters=tries), tries)[0]
    assert "Retries should be a whole number, such as 3, not “a few”." in text


def test_a_wrong_time_is_named_with_what_a_time_looks_like() -> None:
    filled = said("run log-diagnosis service=checkout since=tomorrowish")
    assert filled.values == {"service": "checkout"}
    text = asked(filled)[0]
    assert "“tomorrowish” is no time I can read." in text
    assert "last 2 hours" in text


def test_a_wrong_optional_value_is_asked_about_and_may_be_dropped() -> None:
    filled = said("diagnose checkout since=9:00 until=tomorrowish")
    assert filled.missing == ("until",)
    filled = answer(LOGS, filled, "none", WORDS)
    assert (filled.missing, "until" in filled.values) == ((), False)


def test_typographic_quotes_are_quotes() -> None:
    filled = said("run log-diagnosis service=“check out” since=“last hour”")
    assert filled.suggestions["service"] == ("checkout",)
    assert filled.values["since"] == "2026-11-03T07:15:00Z"


def test_a_pair_that_is_no_parameter_is_left_in_its_sentence() -> None:
    filled = said("why does checkout answer with status=500 since 9?")
    assert (filled.values["service"], filled.values["since"]) == ("checkout", "2026-11-03T08:00:00Z")


def test_a_pair_takes_no_more_of_the_sentence_than_its_value() -> None:
    filled = said("run log-diagnosis service=checkout, last 2 hours")
    assert (filled.values["service"], filled.values["since"]) == ("checkout", "2026-11-03T06:15:00Z")


def test_an_explicit_value_wins_over_the_words_around_it() -> None:
    filled = said("why is checkout slow? service=auth since=last 2 hours")
    assert (filled.values["service"], filled.values["since"]) == ("auth", "2026-11-03T06:15:00Z")


@pytest.mark.parametrize("text", ["failing since the last deploy?", "broken since the latest release"])
def test_the_last_deploy_stays_words_because_only_the_logs_know_its_time(text: str) -> None:
    assert said(f"why is checkout {text}").values == {
        "service": "checkout",
        "since": "since the last deploy",
    }


def test_defaults_stand_where_nothing_was_said() -> None:
    both = (Parameter("since", "time", default="last hour"), Parameter("lines", "integer", default=5))
    filled = said("go", parameters=both)
    assert filled.missing == ()
    assert complete(both, filled, WORDS) == {"since": "2026-11-03T07:15:00Z", "lines": 5}


def test_a_list_too_long_for_buttons_is_named_in_the_question() -> None:
    many = tuple(f"svc{number}" for number in range(40))
    words = Words(NOW, BERLIN, {"list_services": lambda: many})
    text, options, _ = question_for(LOGS[:1], fill(LOGS[:1], "diagnose", words), words.options)
    assert len(options) == 8
    assert text.endswith("svc29 and 10 more)")


@given(st.text(max_size=200), st.text(max_size=50))
def test_any_text_is_read_and_any_answer_taken(text: str, reply: str) -> None:
    filled = answer(LOGS, fill(LOGS, text, WORDS), reply, WORDS)
    assert set(filled.missing) >= {name for name in ("service", "since") if name not in filled.values}
    assert asked(filled)[0]


# --- through the chain ------------------------------------------------------------------------------


def stage(tmp_path: Path, text: str) -> Stage:
    return Stage(skill_in(tmp_path, CHAIN), FakeToolbox(one=lambda _: ok(1)), text)


async def test_all_that_is_missing_is_asked_in_one_question_before_any_step(tmp_path: Path) -> None:
    run = stage(tmp_path, "go")
    question = await run.question()
    assert question.text.startswith("I need three things:")
    assert all(word in question.text for word in ("Which service?", "Since when?", "Which region?", "eu, us"))
    assert (question.open, question.options, run.toolbox.calls) == (True, (), {})


async def test_what_was_given_is_kept_and_the_rest_is_asked(tmp_path: Path) -> None:
    run = stage(tmp_path, "go")
    question = await run.answer("checkout in eu")
    assert not isinstance(question, Result)
    assert (question.text, question.field) == ("Since when?", "since")

    result = await run.answer("last hour")
    assert isinstance(result, Result)
    assert report_of(result) == "checkout 2026-11-03T07:15:00Z eu"
    assert run.toolbox.calls["one"] == 1


async def test_questions_have_ids_that_are_the_same_after_a_restart(tmp_path: Path) -> None:
    run = stage(tmp_path, "go")
    first, again = await run.question(), await run.question()
    assert first.id == again.id
    second = await run.answer("checkout")
    assert not isinstance(second, Result)
    assert second.id != first.id


async def test_the_last_hour_is_the_hour_before_it_was_said(tmp_path: Path) -> None:
    run = stage(tmp_path, "diagnose checkout, last hour")
    await run.question()
    run.clock.moment += timedelta(days=2)
    result = await run.answer("eu")
    assert isinstance(result, Result)
    assert report_of(result) == "checkout 2026-11-03T07:15:00Z eu"


async def test_a_restart_between_steps_does_not_move_the_window(tmp_path: Path) -> None:
    run = stage(tmp_path, "diagnose checkout in eu, last hour")
    run.skill = skill_in(tmp_path, CHAIN + "  - {id: c, tool: two, args: {since: '{{ since }}'}}\n")
    run.toolbox.tools["two"] = lambda _: ok(2)
    await run.killed_at(2)
    run.clock.moment += timedelta(hours=5)
    await run.result()
    assert [args["since"] for _, args in run.toolbox.args] == ["2026-11-03T07:15:00Z"] * 3


async def test_named_parameters_need_no_words(tmp_path: Path) -> None:
    run = stage(tmp_path, "go")
    run.params = {"service": "auth", "since": "2026-11-03T06:00:00Z", "region": "US"}
    assert report_of(await run.result()) == "auth 2026-11-03T06:00:00Z us"


async def test_a_named_parameter_that_is_wrong_is_asked_for(tmp_path: Path) -> None:
    run = stage(tmp_path, "go")
    run.params = {"service": "billing", "since": "last hour", "region": "eu"}
    question = await run.question()
    assert (question.text, question.options) == ("I know no service “billing”. Which service?", SERVICES)


@pytest.mark.parametrize(
    "text",
    [
        "a=" + " " * 200_000,
        "x" * 200_000,
        "since " * 40_000,
        "checkut " * 25_000,
        "a=b " * 50_000,
        '="' * 100_000,
    ],
)
def test_a_huge_text_is_read_at_its_ends(text: str) -> None:
    many = tuple(f"service-{number}" for number in range(300))
    words = Words(NOW, BERLIN, {"list_services": lambda: (*SERVICES, *many)})
    assert "service" not in fill(LOGS, text, words).values
    filled = fill(LOGS, f"diagnose auth. {text} last hour", words)
    assert filled.values["service"] == "auth"
    answer(LOGS, fill(LOGS, "go", words), text, words)


async def test_empty_values_are_no_values(tmp_path: Path) -> None:
    run = stage(tmp_path, "diagnose checkout in eu, last hour")
    run.params = {"service": "", "since": None, "region": " "}
    assert report_of(await run.result()) == "checkout 2026-11-03T07:15:00Z eu"


@pytest.mark.parametrize(
    ("text", "services"),
    [
        ("timeline of checkout since 9", ["checkout"]),
        ("timeline of checkout, auth and worker since 9", ["checkout", "auth", "worker"]),
        ("timeline of all services since 9", ["all"]),
        ("timeline of all that postgres and auth did since 9", ["auth", "postgres"]),
        ("run it services=checkout,auth since=9:00", ["checkout", "auth"]),
        ("run it services=checkout, nginx-edge since=9:00", ["checkout", "nginx-edge"]),
        ('run it services="auth and worker" since=9:00', ["auth", "worker"]),
    ],
)
def test_several_names_are_a_list_and_all_means_all(text: str, services: list[str]) -> None:
    names = Parameter("services", "names", is_required=True, ask="Which?", options_from="list_services")
    filled = said(text, parameters=(names, LOGS[1]))
    assert (filled.values["services"], filled.missing) == (services, ()), filled
    assert filled.values["since"] == "2026-11-03T08:00:00Z"


def test_names_that_are_not_known_are_named_back_and_all_is_offered() -> None:
    names = (Parameter("services", "names", is_required=True, ask="Which?", options_from="list_services"),)
    text, options, _ = asked(said("timeline", parameters=names), names)
    assert (text, options[-1]) == ("Which?", "all")
    assert said("timeline", "checkout and auth", parameters=names).values == {
        "services": ["checkout", "auth"]
    }
    assert said("timeline", "7", parameters=names).values == {"services": ["all"]}
    wrong = said("timeline services=checkout,shopp", parameters=names)
    assert wrong.missing == ("services",)
    assert "shopp" in wrong.problems["services"]
