"""The operations on clicks, and the two ways to follow them."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Dict, Iterator, Optional, Sequence, Union

import httpx

from ._events import EventParser
from ._generated.operations import OPERATIONS, AsyncClicks, Clicks
from ._poll import PollBatch, PollState, beginning_of, next_batch, query_of
from ._retry import LONGEST_OUTAGE, may_pass, pause_of
from ._transport import AsyncTransport, Transport, lost
from .errors import HoplogError

if TYPE_CHECKING:
    from ._generated.types import Click

Filters = Dict[str, Any]
OnOutage = Callable[[HoplogError], None]

_LIST = OPERATIONS["clicks.list"]
_STREAM = OPERATIONS["clicks.stream"]
_SILENCE_SECONDS = 45.0
"""The API sends a comment every 15 seconds."""


class _Outage:
    """Decides on failures of a feed: it waits as long as an outage lasts, once there was a response.

    Before that, an address may be wrong.
    """

    def __init__(self, on_outage: Optional[OnOutage] = None) -> None:
        self._failures = -1
        self._was_reached = False
        self._on_outage = on_outage

    def ended(self) -> None:
        self._was_reached = True
        self._failures = -1

    def pause(self, error: HoplogError) -> float:
        """Returns the seconds to wait. Raises an error that does not pass."""
        if not self._was_reached or not may_pass(error):
            raise error
        if self._on_outage is not None:
            self._on_outage(error)
        self._failures = min(self._failures + 1, LONGEST_OUTAGE)
        return pause_of(self._failures, error.retry_after)


def _live_query(
    link_ids: Optional[Sequence[str]], filters: Optional[Filters], since: Union[str, datetime, None]
) -> Dict[str, Any]:
    return {
        **(filters or {}),
        "link_ids": None if link_ids is None else list(link_ids),
        "since": since.isoformat() if isinstance(since, datetime) else since,
    }


class Poll:
    """Every click once, as it becomes visible, without an end."""

    def __init__(
        self,
        transport: Transport,
        link_ids: Optional[Sequence[str]],
        state: PollState,
        on_state: Optional[Callable[[PollState], object]],
        filters: Optional[Filters],
        interval: float,
        on_outage: Optional[OnOutage],
    ) -> None:
        self._transport, self._link_ids, self._state = transport, link_ids, state
        self._on_state, self._filters, self._interval, self._on_outage = on_state, filters, interval, on_outage

    def batches(self) -> Iterator[PollBatch]:
        """The clicks with the state after them.

        Store both in one transaction, so that a killed process neither loses a click nor gets one twice.
        """
        state = self._state
        outage = _Outage(self._on_outage)
        while True:
            try:
                query = query_of(state, self._link_ids, self._filters)
                page = self._transport(_LIST, (), query, None, None)
            except HoplogError as error:
                time.sleep(outage.pause(error))
                continue
            outage.ended()
            batch = next_batch(state, page)
            state = batch.state
            yield batch
            if self._on_state is not None:
                self._on_state(state)
            if "round" not in state:
                time.sleep(self._interval)

    def __iter__(self) -> Iterator[Click]:
        for batch in self.batches():
            yield from batch.clicks


class AsyncPoll:
    """Every click once, as it becomes visible, without an end."""

    def __init__(
        self,
        transport: AsyncTransport,
        link_ids: Optional[Sequence[str]],
        state: PollState,
        on_state: Optional[Callable[[PollState], Optional[Awaitable[object]]]],
        filters: Optional[Filters],
        interval: float,
        on_outage: Optional[OnOutage],
    ) -> None:
        self._transport, self._link_ids, self._state = transport, link_ids, state
        self._on_state, self._filters, self._interval, self._on_outage = on_state, filters, interval, on_outage

    async def batches(self) -> AsyncIterator[PollBatch]:
        """The clicks with the state after them.

        Store both in one transaction, so that a killed process neither loses a click nor gets one twice.
        """
        state = self._state
        outage = _Outage(self._on_outage)
        while True:
            try:
                query = query_of(state, self._link_ids, self._filters)
                page = await self._transport(_LIST, (), query, None, None)
            except HoplogError as error:
                await asyncio.sleep(outage.pause(error))
                continue
            outage.ended()
            batch = next_batch(state, page)
            state = batch.state
            yield batch
            if self._on_state is not None:
                stored = self._on_state(state)
                if stored is not None:
                    await stored
            if "round" not in state:
                await asyncio.sleep(self._interval)

    async def __aiter__(self) -> AsyncIterator[Click]:
        async for batch in self.batches():
            for click in batch.clicks:
                yield click


class ClicksWithFeeds(Clicks):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self._transport = transport

    def poll(
        self,
        *,
        link_ids: Optional[Sequence[str]] = None,
        since: Union[str, datetime, None] = None,
        state: Optional[PollState] = None,
        on_state: Optional[Callable[[PollState], object]] = None,
        filters: Optional[Filters] = None,
        interval: float = 2.0,
        on_outage: Optional[OnOutage] = None,
    ) -> Poll:
        """Every click once, as it becomes visible, without an end. Its state continues it in another process.

        `on_state` stores the state: it is called after the loop has taken all clicks of a page. `since` is where a
        poll without a state begins; default: with the first click of the workspace. `filters` are those of
        `GET /clicks`: they belong to the state. `interval` is the pause between two rounds in seconds.
        """
        begun = beginning_of(since, state)
        return Poll(self._transport, link_ids, begun, on_state, filters, interval, on_outage)

    def live(
        self,
        *,
        link_ids: Optional[Sequence[str]] = None,
        since: Union[str, datetime, None] = None,
        filters: Optional[Filters] = None,
    ) -> Iterator[Click]:
        """Clicks from now on, within a second. Reconnects from the last one on."""
        query = _live_query(link_ids, filters, since)
        outage = _Outage()
        while True:
            try:
                response: httpx.Response = self._transport(
                    _STREAM, (), query, None, {"timeout": _SILENCE_SECONDS}, stream=True
                )
                outage.ended()
                parser = EventParser()
                try:
                    for text in response.iter_text():
                        for event in parser.feed(text):
                            if event.event == "click":
                                yield json.loads(event.data)
                            query["since"] = event.id or query["since"]
                except httpx.RequestError as error:
                    raise lost(error, response.url) from error
                finally:
                    response.close()
                time.sleep(pause_of(0))
            except HoplogError as error:
                time.sleep(outage.pause(error))


class AsyncClicksWithFeeds(AsyncClicks):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self._transport = transport

    def poll(
        self,
        *,
        link_ids: Optional[Sequence[str]] = None,
        since: Union[str, datetime, None] = None,
        state: Optional[PollState] = None,
        on_state: Optional[Callable[[PollState], Optional[Awaitable[object]]]] = None,
        filters: Optional[Filters] = None,
        interval: float = 2.0,
        on_outage: Optional[OnOutage] = None,
    ) -> AsyncPoll:
        """Every click once, as it becomes visible, without an end. Its state continues it in another process.

        The arguments are those of `Hoplog.clicks.poll`. `on_state` may be asynchronous.
        """
        begun = beginning_of(since, state)
        return AsyncPoll(self._transport, link_ids, begun, on_state, filters, interval, on_outage)

    async def live(
        self,
        *,
        link_ids: Optional[Sequence[str]] = None,
        since: Union[str, datetime, None] = None,
        filters: Optional[Filters] = None,
    ) -> AsyncIterator[Click]:
        """Clicks from now on, within a second. Reconnects from the last one on."""
        query = _live_query(link_ids, filters, since)
        outage = _Outage()
        while True:
            try:
                response: httpx.Response = await self._transport(
                    _STREAM, (), query, None, {"timeout": _SILENCE_SECONDS}, stream=True
                )
                outage.ended()
                parser = EventParser()
                try:
                    async for text in response.aiter_text():
                        for event in parser.feed(text):
                            if event.event == "click":
                                yield json.loads(event.data)
                            query["since"] = event.id or query["since"]
                except httpx.RequestError as error:
                    raise lost(error, response.url) from error
                finally:
                    await response.aclose()
                await asyncio.sleep(pause_of(0))
            except HoplogError as error:
                await asyncio.sleep(outage.pause(error))
