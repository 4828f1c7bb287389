"""What is found to be a secret, and what is not (behaviours B-120, B-121; reliability §3)."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secretcases import Told, harmless, told

from hermes_bot.redaction import REMOVED, Redactor, Vault, Withheld

if TYPE_CHECKING:
    from hermes_bot.messages import Json

ROOT = Path(__file__).parent.parent
PLAIN = Redactor()
FAKE = "hunter" + "2"


@pytest.mark.shared
@pytest.mark.parametrize("case", told(), ids=lambda case: case.name)
def test_no_form_of_a_secret_is_left_in_a_text(case: Told) -> None:
    out = Redactor([case.own] if case.own else []).text(case.text)
    assert not [form for form in case.forms if form in out]
    assert all(word in out for word in case.stays)


@pytest.mark.shared
@pytest.mark.parametrize("line", harmless())
def test_a_harmless_line_comes_out_unchanged(line: str) -> None:
    assert PLAIN.text(line) is line


@pytest.mark.parametrize(
    "text",
    [
        "xoxb-" + "12345-abcdefgh",
        "Bearer " + "abcdef123456",
        '{"client_secret": "q1w2e3r4"}',
        f"password: {FAKE}",
        f"the password is {FAKE}, as ever",
        f"login --password {FAKE}",
        f"my password: `{FAKE}`",
        r'{"said": "{\"password\": \"hunter2\"}"}',
        "{'db_password': 'hunter2'}",
        f"DB_PASSWORD={FAKE}",
        f"spring.datasource.password: {FAKE}",
        f"https://api.example/v1?api_key={FAKE}&page=2",
        f"redis://:{FAKE}@cache.example:6379/0",
        f"X-Api-Key: {FAKE}",
        f"Set-Cookie: sid=abc-{FAKE}; Path=/",
    ],
)
def test_a_value_is_found_by_the_name_of_its_field_or_by_its_shape(text: str) -> None:
    out = PLAIN.text(text)
    assert REMOVED in out
    assert not [bad for bad in (FAKE, "abcdef123456", "q1w2e3r4", "abcdefgh") if bad in out]


@pytest.mark.parametrize(
    "text",
    [
        "password=$DB_PASSWORD",
        "token: <your token>",
        "password: ********",
        "api_key = os.environ['API_KEY']",
        "token: str | None = None",
        'TOKEN = "HERMES_SLACK_BOT_TOKEN"',
        "the cache key: user:42",
        "To run it again, pass attempt=2; token h1 and secret s3 are names.",
        "next token is 42 characters away",
        '{"password": "This field is required."}',
        '{"say": "Give me your password: ", "field": "x1"}',
    ],
)
def test_what_only_speaks_of_a_secret_stays(text: str) -> None:
    assert PLAIN.text(text) == text


def test_nothing_of_this_programs_own_text_and_of_the_demos_logs_is_taken_for_a_secret() -> None:
    files = [*ROOT.glob("hermes_bot/**/*.py"), *ROOT.glob("adapters/**/*.py"), *ROOT.glob("skills/**/*")]
    files += [*ROOT.glob("data/demo/**/*"), ROOT / "README.md", ROOT / "pyproject.toml"]
    hits = [
        (file.name, line.strip())
        for file in files
        if file.is_file() and file.suffix in (".py", ".md", ".toml", ".yaml", ".log", ".txt", ".j2")
        for line in file.read_text(errors="replace").splitlines()
        if "noqa: S10" not in line and PLAIN.text(line) != line
    ]
    assert [hit for hit in hits if hit[0] not in ("fields.py", "README.md")] == []


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=0x2FFF), min_size=12, max_size=40))
def test_a_value_of_the_programs_own_is_found_however_it_is_encoded(secret: str) -> None:
    redactor = Redactor([secret])
    raw = secret.encode()
    for form in (
        secret,
        quote(secret, safe=""),
        "".join(f"%{byte:02x}" for byte in raw),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
    ):
        assert form not in redactor.text(f"it said <{form}> twice: {form}")
    assert base64.b64encode(raw).decode()[4:-4] not in redactor.text(base64.b64encode(b"bot:" + raw).decode())


@given(st.text(max_size=200))
def test_any_text_can_be_looked_through_and_a_second_look_finds_nothing_more(text: str) -> None:
    once = Redactor(["known-value-1"]).text(text)
    assert Redactor(["known-value-1"]).text(once) == once


def test_the_lines_of_a_key_are_gone_one_by_one() -> None:
    body = "TWFkZS11cC1r" + "ZXktbm90LXJlYWw="
    lines = [
        "before",
        "-----BEGIN RSA PRI" + "VATE KEY-----",
        body,
        body,
        "-----END RSA PRI" + "VATE KEY-----",
    ]
    out = PLAIN.data([*lines, "after"])
    assert isinstance(out, list)
    assert body not in str(out)
    assert (out[0], out[-1], len(out)) == ("before", "after", 6)


def test_data_loses_secrets_by_the_names_of_its_fields_and_stays_the_same_object_without_any() -> None:
    data: Json = {
        "user": "bot",
        "password": "just letters",
        "env": [{"name": "API_TOKEN", "value": "abc"}],
        "n": 1,
    }
    assert PLAIN.data(data) == {
        "user": "bot",
        "password": REMOVED,
        "env": [{"name": "API_TOKEN", "value": REMOVED}],
        "n": 1,
    }
    clean: Json = {"user": "bot", "rows": [["a", 1], ["b", None]], "ok": True}
    assert PLAIN.data(clean) is clean


def test_a_number_stands_for_its_value_in_its_own_thread_only() -> None:
    vault = Vault(Redactor(["own-secret-value"]))
    masked = vault.text(f"password: {FAKE}, again password: {FAKE}", "thread 1")
    assert masked.count("\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}secret:1") == 2
    args: Json = {"user": "bot", "given": [masked.split(", ")[0].removeprefix("password: ")]}
    assert vault.reveal(args, "thread 1") == {"user": "bot", "given": [FAKE]}
    with pytest.raises(Withheld):
        vault.reveal(args, "thread 2")
    vault.forget("thread 1")
    with pytest.raises(Withheld):
        vault.reveal(args, "thread 1")


def test_the_programs_own_secrets_are_never_given_back() -> None:
    vault = Vault(Redactor(["own-secret-value"]))
    with pytest.raises(Withheld) as withheld:
        vault.reveal(vault.text("it is own-secret-value", "t"), "t")
    assert withheld.value.is_own


def test_a_number_in_an_address_is_put_back_encoded() -> None:
    vault = Vault(PLAIN)
    masked = vault.text("password: a/b?c1", "t").removeprefix("password: ")
    address = f"https://u:{quote(masked, safe='')}@db.example/"
    assert vault.reveal(address, "t") == "https://u:a%2Fb%3Fc1@db.example/"
