"""Knows one open connection to a server: the handshake, its tools, a call, what the server asks in it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, TypeAlias

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from hermes_bot import __version__
from hermes_bot.errors import ToolError
from hermes_bot.mcp.definitions import MAX_TOOLS, read_listing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from mcp.client._transport import TransportStreams
    from mcp.client.session import ClientRequestContext, IncomingMessage
    from mcp.shared.dispatcher import CallOptions

    from hermes_bot.mcp.asking import Asking
    from hermes_bot.mcp.definitions import Listing

log = logging.getLogger(__name__)

MAX_PAGES = 50
MAX_LEGS = 10  # of one call that asks, answer by answer, by the protocol of 2026-07-28
UNSURE_SECONDS = 60.0  # after a call was given up, nobody knows whose call a question is about
_LEG_PAUSE_SECONDS = 0.1
_CLIENT = types.Implementation(name="hermes-bot", version=__version__)
_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_TOOLS = TypeAdapter(list[types.Tool])
_Transport: TypeAlias = TransportContext


class Link:
    """A connection that is up.

    Attributes:
        stirred: set when the tools may have changed, the connection has ended, or there is doubt about it.
    """

    def __init__(self, streams: TransportStreams) -> None:
        self.stirred = asyncio.Event()
        self._wire = _Wire(streams, self.stirred)
        self._session = ClientSession(
            dispatcher=self._wire,
            client_info=_CLIENT,
            elicitation_callback=self._elicited,
            message_handler=self._told,
        )
        self._calls: list[Asking] = []
        self._asked: set[int] = set()
        self._fewer = asyncio.Condition()
        self._unsure_until = 0.0

    @property
    def has_ended(self) -> bool:
        """Whether nothing can come over it any more."""
        return self._wire.has_ended

    @property
    def calls_under_way(self) -> int:
        """How many calls wait for their answer."""
        return len(self._calls)

    @property
    def session(self) -> ClientSession:
        """The library's session; the supervisor enters and leaves it."""
        return self._session

    async def shake_hands(self) -> None:
        """Agree on a protocol version: the modern one where the server knows it, else the older handshake."""
        try:
            await self._session.discover()
        except (MCPError, ValidationError, RuntimeError):
            await self._session.initialize()
        self._wire.version = self._session.protocol_version or ""

    async def tools(self) -> Listing:
        """Return what the server offers now, all pages of it."""
        self._wire.offered.clear()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await self._session.list_tools(params=params)
            cursor = page.next_cursor
            if not cursor or len(self._wire.offered) > MAX_TOOLS:
                break
        # in a thread: the first look at hundreds of schemas takes a second
        return await asyncio.to_thread(read_listing, tuple(self._wire.offered))

    async def follow_changes(self) -> None:
        """Have the server say when its tools change, where the protocol wants to be asked for that."""
        if self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with contextlib.suppress(MCPError, SubscriptionLost, RuntimeError):
            async with listen(self._session, tools_list_changed=True) as changes:
                async for _ in changes:
                    self.stirred.set()

    async def call(self, name: str, args: Mapping[str, Any], asking: Asking) -> types.CallToolResult | None:
        """Call a tool; None where people must be asked first, which ``asking`` then tells.

        Raises:
            MCPError: no answer came from the tool.
            ToolError: the server wants what it cannot have.
            ValidationError: the answer is none.
        """
        self._calls.append(asking)
        try:
            return await self._legs(name, args, asking)
        except MCPError:
            self.stirred.set()  # is it still there?
            if asking.is_open():
                return None
            raise
        except asyncio.CancelledError:
            # what the server still asks about this call must not pass for a question about another one
            self._unsure_until = asyncio.get_running_loop().time() + UNSURE_SECONDS
            self.stirred.set()
            raise
        finally:
            async with self._fewer:
                self._calls.remove(asking)
                self._fewer.notify_all()

    async def _legs(self, name: str, args: Mapping[str, Any], asking: Asking) -> types.CallToolResult | None:
        responses: types.InputResponses | None = None
        held: str | None = None
        for _ in range(MAX_LEGS):
            params = types.CallToolRequestParams(
                name=name, arguments=dict(args), input_responses=responses, request_state=held
            )
            answer = await self._session.send_request(types.CallToolRequest(params=params), _ANSWER)
            if asking.is_open():
                return None
            if isinstance(answer, types.CallToolResult):
                return answer
            wanted = (answer.input_requests or {}).items()
            responses = {key: _answered(one, asking) for key, one in wanted}
            if asking.is_open():
                return None
            held = answer.request_state
            if not responses:
                await asyncio.sleep(_LEG_PAUSE_SECONDS)
        raise ToolError("asks_too_much", f"The server asked {MAX_LEGS} times and is not done.")

    async def _elicited(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Answer a question that the server asks during a call.

        The protocol does not say whose call it is about. While several are under way this waits until the
        others have their answers; the one that asked cannot have its own before.
        """
        number = id(context)
        self._asked.add(number)
        try:
            async with self._fewer:
                self._fewer.notify_all()
                await self._fewer.wait_for(lambda: len(self._calls) <= max(1, len(self._asked)))
            is_unsure = asyncio.get_running_loop().time() < self._unsure_until
            if is_unsure or len(self._calls) != 1:
                return types.ElicitResult(action="cancel")
            return self._calls[0].answer(params)
        finally:
            self._asked.discard(number)

    async def _told(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.stirred.set()


@contextlib.asynccontextmanager
async def linked(streams: TransportStreams) -> AsyncIterator[Link]:
    """Open a connection over a transport's streams, which the caller keeps open meanwhile."""
    link = Link(streams)
    async with link.session:
        await link.shake_hands()
        yield link


def _answered(request: types.InputRequest, asking: Asking) -> types.InputResponse:
    if not isinstance(request, types.ElicitRequest):
        raise ToolError("unsupported", f"The server wants {request.method}, which it is not given.")
    return asking.answer(request.params)


class _Wire(JSONRPCDispatcher[_Transport]):
    """The library's own, which tells when it has ended and lets one broken tool cost no other."""

    def __init__(self, streams: TransportStreams, stirred: asyncio.Event) -> None:
        super().__init__(*streams)
        self.has_ended = False
        self.version = ""
        self.offered: list[Any] = []
        self._stirred = stirred

    async def run(self, *args: Any, **named: Any) -> None:
        try:
            await super().run(*args, **named)
        finally:
            self.has_ended = True
            self._stirred.set()

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: types.RequestId | None = None,
    ) -> dict[str, Any]:
        raw = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method != "tools/list" or not isinstance(raw.get("tools"), list):
            return raw
        tools = raw["tools"][: MAX_TOOLS + 1]
        self.offered += tools
        if self._is_readable(raw, tools):
            return {**raw, "tools": tools}
        return {**raw, "tools": [one for one in tools if self._is_readable(raw, [one])]}

    def _is_readable(self, raw: dict[str, Any], tools: list[Any]) -> bool:
        """Whether the library can read these tools; it would refuse the whole list for one that it cannot."""
        try:
            methods.validate_server_result("tools/list", self.version, {**raw, "tools": tools})
            _TOOLS.validate_python(tools, by_name=False)
        except (KeyError, ValidationError):
            return False
        return True
