"""Knows how tools fail: by raising, hanging, refusing, with garbage, nothing, late, a flood, or unheard."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from hermes_bot.errors import ToolError

if TYPE_CHECKING:
    from random import Random

    from hermes_bot.evaluation.tasks import ToolSpec
    from hermes_bot.messages import Json, Result
    from hermes_bot.ports import Clock

ToolFault = Literal["raises", "hangs", "refuses", "refuses_for_good", "garbage", "nothing", "slow", "flood"]

OF_READS: tuple[ToolFault, ...] = (
    "raises",
    "hangs",
    "refuses",
    "refuses_for_good",
    "garbage",
    "nothing",
    "slow",
    "flood",
)
# Of a write all but the refusal come after it took effect: the answer is lost, or useless.
OF_WRITES: tuple[ToolFault, ...] = ("raises", "hangs", "refuses", "nothing", "slow")
SLOW_SECONDS = 2.0
_NOISE_LINES = 3_000


@dataclass(slots=True)
class ToolFaults:
    """Draws a fault for each call, with its probability; its own source of chance.

    Attributes:
        injected: how often each came.
    """

    share: float
    chance: Random
    injected: Counter[str] = field(default_factory=Counter)

    def draw(self, spec: ToolSpec) -> ToolFault | None:
        """Return what goes wrong with this call; None where nothing does."""
        if self.chance.random() >= self.share:
            return None
        fault = self.chance.choice(OF_READS if spec.risk == "read" else OF_WRITES)
        self.injected[f"tool:{fault}" if spec.risk == "read" else f"write:{fault}"] += 1
        return fault

    def refuse(self, fault: ToolFault | None) -> None:
        """Raise where the tool refuses.

        Raises:
            ToolError: it was told so in good order, and nothing happened.
        """
        if fault == "refuses":
            raise ToolError("unavailable", "The service is busy just now.", retryable=True)
        if fault == "refuses_for_good":
            raise ToolError("internal", "The service answered 500.", retryable=False)

    async def before(self, fault: ToolFault | None, clock: Clock) -> None:
        """Fail instead of an answer, or be late.

        Raises:
            Exception: whatever a broken tool raises.
        """
        self.refuse(fault)
        match fault:
            case "raises":
                raise self.chance.choice((ValueError, KeyError, RuntimeError, ConnectionResetError))("broken")
            case "hangs":
                await asyncio.Event().wait()
            case "slow":
                await clock.sleep(SLOW_SECONDS)
            case _:
                pass

    def spoilt(self, fault: ToolFault | None, result: Result) -> Result | None:
        """Return what comes instead of the result, or with it."""
        match fault:
            case "nothing":
                return None
            case "garbage":
                return replace(result, data=self._garbage())
            case "flood":
                return replace(result, data=_flooded(result.data))
            case _:
                return result

    def _garbage(self) -> Json:
        """Return what a broken source gives as if all were well."""
        return self.chance.choice(
            (
                "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
                "\x00\x01\x02PK\x03\x04" + "\x00\ufffd" * 40,
                "",
                {"unexpected": [[]]},
                "�" * 60,
            )
        )


def _flooded(data: Json) -> Json:
    noise = "\n".join(f"DEBUG worker {number} idle" for number in range(_NOISE_LINES))
    return {**data, "debug": noise} if isinstance(data, dict) else {"result": data, "debug": noise}
