"""What the service's user can get at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_bot.errors import HermesError
from hermes_bot.service.reach import HOMES, TEMPORARY, Who, barrier, forbidden, is_in, who

NOBODY = Who()
OWNER = Who("owner", os.getuid(), frozenset())
STRANGER = Who("stranger", 4_000_000, frozenset())


def test_what_everybody_may_read_is_reached() -> None:
    assert barrier(Path("/usr/bin/env"), NOBODY) == ""
    assert barrier(Path("/etc/passwd"), STRANGER) == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/root/.venv/bin/python", "lies in a home folder"),
        ("/home/ann/.venv/bin/python", "lies in a home folder"),
        ("/tmp/venv/bin/python", "lies in a temporary folder"),  # noqa: S108 - it need not exist
        ("/usr/bin/no-such-python", "cannot be read (No such file or directory: /usr/bin/no-such-python)"),
    ],
)
def test_what_a_made_up_user_does_not_see_is_said(path: str, said: str) -> None:
    assert said in barrier(Path(path), NOBODY)


def test_a_link_into_a_home_is_seen_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/root")
    assert is_in(tmp_path / "link" / "venv", HOMES)
    assert is_in(tmp_path / "link", TEMPORARY) == tmp_path.is_relative_to("/tmp")  # noqa: S108 - as above


def test_rights_on_the_way_count(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    file = tmp_path / "hermes.toml"
    file.touch(0o644)
    assert "may not be read by the user stranger" in forbidden(file, STRANGER)
    assert forbidden(file, OWNER) == ""


def test_a_user_or_group_that_is_not_there_is_said() -> None:
    with pytest.raises(HermesError, match="there is no user no-such-user"):
        who("no-such-user", ())
    with pytest.raises(HermesError, match="no-such-group"):
        who("", ("no-such-group",))
    assert who("root", ()).uid == 0
