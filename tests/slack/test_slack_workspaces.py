"""Which token serves which workspace; and the package costs nothing before Slack is used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest

from hermes_bot.errors import PlaceGone
from hermes_slack.workspaces import Identity, Workspace, Workspaces

if TYPE_CHECKING:
    from hermes_slack.api import Api


def installed(team: str, **fields: Any) -> Workspace:
    return Workspace(Identity(team, "UBOT", "BBOT", **fields), cast("Api", None))


def test_each_workspace_is_served_by_its_own_token_and_a_foreign_one_by_none() -> None:
    both = Workspaces([installed("T1"), installed("T2")])
    assert both.get("T2").identity.team == "T2"
    with pytest.raises(PlaceGone, match="T3"):
        both.get("T3")


def test_an_organisations_token_serves_all_its_workspaces_and_another_organisations_none() -> None:
    one = Workspaces([installed("T1"), installed("E1", enterprise="E1", serves_all=True)])
    assert one.get("T1").identity.team == "T1"
    for found in (one.find("T5", "E1"), one.find("T5")):
        assert found is not None
        assert found.identity.team == "E1"
    assert one.find("T5", "E2") is None


def test_a_workspace_inside_an_organisation_does_not_speak_for_its_neighbours() -> None:
    one = Workspaces([installed("T1", enterprise="E1")])
    assert one.find("T2", "E1") is None


def test_an_installation_that_was_taken_away_serves_nobody() -> None:
    one = Workspaces([installed("E1", enterprise="E1", serves_all=True)])
    one.drop("E1")
    assert one.find("T1", "E1") is None
    assert len(one) == 0


@pytest.mark.parametrize("used", ["", "from hermes_slack import SlackAdapter"])
def test_the_libraries_come_only_where_slack_runs(used: str) -> None:
    heavy = "[name for name in ('slack_bolt', 'aiohttp') if name in sys.modules]"
    code = f"import sys, hermes_slack; {used}\nprint({heavy})"
    path = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path)  # noqa: S603 - our own code
    assert done.stdout.strip() == "[]"
