"""Knows how a fair model decides: it knows a right way, and what was done from its prompt alone. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import canonical
from hermes_bot.evaluation.tasks import Call, End, Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.evaluation.reading import Seen, Sight
    from hermes_bot.evaluation.tasks import Step, Task

CONFIDENCE = 0.9
ENOUGH = 2  # useless results of one call after which another way is taken
_MOST_EVIDENCE = 6
_WHOLE = re.compile(r"\{(\w+)\}")


@dataclass(slots=True)
class Mind:
    """One look at a prompt.

    Attributes:
        names: what was read from results, by the name a step gives it.
        used: the rounds that the answer rests on.
    """

    task: Task
    sight: Sight
    names: dict[str, str] = field(default_factory=dict)
    used: list[int] = field(default_factory=list)

    def decide(self) -> dict[str, Any]:
        """Return the decision, as the contract wants it."""
        said = self._walk(self.task.path)
        return self._asides() | (said or self._finish("I did what was asked."))

    def _asides(self) -> dict[str, Any]:
        """Return what the prompt asks for beside the action: how the task is read, and a look back."""
        beside: dict[str, Any] = {}
        calls = [step for step in self.task.path if isinstance(step, Call)]
        if self.sight.wants_goal and len(calls) > 1:
            ends = dict.fromkeys((calls[0].call, calls[-1].call))
            plan = [{"goal": f"learn it from {name}", "done_when": f"{name} gave it"} for name in ends]
            beside = {"goal": {"objective": self.task.task, "constraints": []}, "plan": plan}
        if self.sight.wants_look_back and self.sight.rounds:
            last = self.sight.rounds[-1].number
            reason = f"Round {last} showed how far this is, and the next step is known."
            beside["reflection"] = {"verdict": "continue", "reason": reason}
        return beside

    def _walk(self, steps: Sequence[Step]) -> dict[str, Any] | None:
        """Return what is to be done next on this way; None where it was gone to its end."""
        for step in steps:
            match step:
                case Call():
                    said = self._next(step)
                case Question():
                    said = self._question(step)
                case End():
                    said = self._finish(self.filled(step.finish))
            if said is not None:
                return said
        return None

    def _next(self, step: Call) -> dict[str, Any] | None:
        if step.forever:
            return self._call(step)
        tries = self.sight.tries(self._text(step))
        useful = [seen for seen in tries if seen.is_ok and self._shows(step, seen)]
        if useful:
            self._take(step.take, useful[-1])
            return None
        if step.verify is not None and any(seen.status == "unknown" for seen in tries):
            return self._next(step.verify)
        if step.may_fail and any(_is_final(seen) for seen in tries):
            return None
        if step.otherwise and (len(tries) >= ENOUGH or any(_is_final(seen) for seen in tries)):
            return self._walk(step.otherwise)
        return self._call(step)

    def _question(self, step: Question) -> dict[str, Any] | None:
        answered = [seen for seen in self.sight.tries(f"request_info {step.ask}") if seen.is_ok]
        if answered:
            self._take(step.take, answered[-1])
            return None
        args = {"question": step.ask, **({"options": list(step.options)} if step.options else {})}
        return _decision("No tool can tell me this, so I ask.", "request_info", args)

    def _call(self, step: Call) -> dict[str, Any]:
        since = f" Round {self.used[-1]} is the base." if self.used else ""
        return _decision(f"I need {step.call} now.{since}", step.call, self.args(step))

    def _finish(self, answer: str) -> dict[str, Any]:
        evidence = [f"round {number}" for number in dict.fromkeys(self.used[-_MOST_EVIDENCE:])]
        args = {"answer": answer, "confidence": CONFIDENCE, "evidence": evidence}
        return _decision("All steps are done.", "finish", args)

    def _shows(self, step: Call, seen: Seen) -> bool:
        """Whether a result holds what the way needs of it."""
        wanted = [*([step.see] if step.see else []), *step.take.values()]
        return all(re.search(pattern, seen.text) for pattern in wanted)

    def _take(self, take: dict[str, str], seen: Seen) -> None:
        self.used.append(seen.number)
        for name, pattern in take.items():
            found = re.search(pattern, seen.text)
            if found is not None:
                self.names[name] = found[1].strip()

    def _text(self, step: Call) -> str:
        """Return the call as the prompt writes it."""
        return f"{step.call} {canonical(self.args(step))}"

    def args(self, step: Call) -> dict[str, Any]:
        """Return a call's arguments, with what was read on the way."""
        kinds = self.task.tools[step.call].args if step.call in self.task.tools else {}
        return {name: self._value(value, kinds.get(name, "")) for name, value in step.args.items()}

    def _value(self, value: Any, kind: str) -> Any:
        if isinstance(value, list):
            return [self._value(one, "") for one in value]
        if not isinstance(value, str):
            return value
        filled = self.filled(value)
        return int(filled) if kind.startswith("integer") and filled.isdigit() else filled

    def filled(self, text: str) -> str:
        """Return a text with what was read on the way; what was not stays as it stands."""
        known = {**self.names, "n": str(self.sight.round)}
        return _WHOLE.sub(lambda found: known.get(found[1], found[0]), text)


def _decision(thought: str, name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"thought": thought, "action": {"name": name, "args": args}}


def _is_final(seen: Seen) -> bool:
    return not seen.is_ok and "The same call will fail again" in seen.text
