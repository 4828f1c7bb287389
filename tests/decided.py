"""What was decided, read or refused: for the tests of model answers."""

from __future__ import annotations

import json
from typing import Any

from hermes_bot.decisions import Action, CallTool, Finish, Malformed, decide

LOGS = Action("query_logs", {"service": "payments", "limit": 5})
WRITTEN = {"thought": "I need the log.", "action": {"name": "query_logs", "args": dict(LOGS.args)}}
STRICT = json.dumps(WRITTEN)


def called(text: str) -> Action:
    decision = decide(text)
    assert isinstance(decision, CallTool), decision
    return decision.action


def finished(**args: Any) -> Finish:
    decision = decide(json.dumps({"action": {"name": "finish", "args": args}}))
    assert isinstance(decision, Finish), decision
    return decision


def problem(text: str, finish_reason: str = "stop") -> str:
    decision = decide(text, finish_reason=finish_reason)
    assert isinstance(decision, Malformed), decision
    return decision.problem
