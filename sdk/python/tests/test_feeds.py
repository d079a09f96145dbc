from __future__ import annotations

import asyncio
import json
import random
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List

import pytest
from conftest import Reply, Script, failure, ok

from hoplog import AsyncHoplog, Hoplog, HoplogError, PollState
from hoplog._events import EventParser
from hoplog._poll import beginning_of, next_batch

Start = Callable[..., Script]


def instant(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Service:
    """Clicks become visible late and in any order. All before the watermark are visible."""

    def __init__(self, noise: random.Random) -> None:
        self._noise = noise
        self._hidden: List[Dict[str, Any]] = []
        self._visible: List[Dict[str, Any]] = []
        self._clock = 1_795_168_800_000_000
        self.made = 0

    def step(self, is_last: bool) -> None:
        for _ in range(0 if is_last else self._noise.randrange(6)):
            self._clock += self._noise.randrange(900)
            self._hidden.append({"id": f"click-{self.made:05}", "ts": instant(self._clock)})
            self.made += 1
        for click in list(self._hidden):
            if is_last or self._noise.random() < 0.3:
                self._hidden.remove(click)
                self._visible.append(click)

    def page(self, state: PollState, limit: int) -> Any:
        before = state["round"]["before"] if "round" in state else "~"
        cursor_of = lambda click: click["ts"] + click["id"]  # noqa: E731
        rows = sorted(
            (one for one in self._visible if one["ts"] >= state["since"] and cursor_of(one) < before),
            key=cursor_of,
            reverse=True,
        )
        return {
            "clicks": rows[:limit],
            "next_cursor": cursor_of(rows[limit - 1]) if len(rows) > limit else None,
            "watermark": min([instant(self._clock), *(one["ts"] for one in self._hidden)]),
        }


def test_a_poll_gets_every_click_once_however_late_and_whenever_it_is_killed() -> None:
    for seed in range(200):
        noise = random.Random(seed)
        service = Service(noise)
        got: List[str] = []
        stored = json.dumps({"since": instant(0), "seen": []})

        def poll(limit: int) -> bool:
            nonlocal stored
            state: PollState = json.loads(stored)
            batch = next_batch(state, service.page(state, limit))
            # A poller that is killed before it has stored both stores neither.
            if noise.random() < 0.2:
                return True
            got.extend(one["id"] for one in batch.clicks)
            stored = json.dumps(batch.state)
            return "round" in batch.state

        for _ in range(40):
            service.step(False)
            poll(noise.randrange(1, 5))
        service.step(True)
        for _ in range(3):
            while poll(3):
                pass
        assert len(set(got)) == len(got), f"seed {seed}: doubles"
        assert len(got) == service.made, f"seed {seed}: all"


def page(ids: List[str], cursor: Any = None) -> Reply:
    clicks = [{"id": one, "ts": "2026-11-20T10:00:01.000000Z"} for one in ids]
    return ok({"clicks": clicks, "next_cursor": cursor, "watermark": "2026-11-20T10:00:00.000000Z"})


PAGES = [page(["b", "a"], "c-1"), page([]), page(["c", "b", "a"])]


def test_a_poll_continues_from_its_state(script: Start) -> None:
    server = script(*PAGES)
    hoplog = Hoplog(key="k", base_url=server.url)
    stored: List[PollState] = []
    seen: List[str] = []
    since = "2026-11-20T11:00:00+01:00"
    for click in hoplog.clicks.poll(
        link_ids=["l-1", "l-2"], since=since, filters={"country": ["DE", "AT"]}, on_state=stored.append, interval=0
    ):
        seen.append(click["id"])
        if len(seen) == 3:
            break
    assert seen == ["a", "b", "c"]
    # The last click was not taken: the loop did not ask for another one.
    assert len(stored) == 2
    assert "since=2026-11-20T10%3A00%3A00.000000Z&before=c-1" in server.got[1].path
    assert "country=DE%2CAT&link_ids=l-1%2Cl-2&limit=500" in server.got[0].path
    assert stored[-1] == {"since": "2026-11-20T10:00:00.000000Z", "seen": ["b", "a"]}
    assert next(iter(hoplog.clicks.poll(state=stored[-1])))["id"] == "c"


def test_an_asynchronous_poll_continues_from_its_state(script: Start) -> None:
    server = script(*PAGES)

    async def read() -> None:
        stored: List[PollState] = []

        async def on_state(state: PollState) -> None:
            stored.append(state)

        async with AsyncHoplog(key="k", base_url=server.url) as hoplog:
            seen: List[str] = []
            async for click in hoplog.clicks.poll(since="2026-11-20T10:00:00Z", on_state=on_state, interval=0):
                seen.append(click["id"])
                if len(seen) == 3:
                    break
            assert (seen, len(stored)) == (["a", "b", "c"], 2)

    asyncio.run(read())


def test_a_poll_waits_for_the_end_of_an_outage_and_says_so(script: Start) -> None:
    server = script(page([]), failure(503, "unavailable", 0), page(["a"]))
    told: List[str] = []
    hoplog = Hoplog(key="k", base_url=server.url, retries=0)
    poll = hoplog.clicks.poll(interval=0, on_outage=lambda error: told.append(error.message))
    assert next(iter(poll))["id"] == "a"
    assert told == ["said unavailable"]


def test_a_poll_that_never_had_a_response_or_may_not_have_one_fails(script: Start) -> None:
    down = Hoplog(key="k", base_url=script(failure(503, "unavailable", 0)).url, retries=0)
    with pytest.raises(HoplogError, match="said unavailable"):
        next(iter(down.clicks.poll()))
    revoked = Hoplog(key="k", base_url=script(page([]), failure(401, "unauthorized")).url)
    with pytest.raises(HoplogError, match="said unauthorized"):
        next(iter(revoked.clicks.poll(interval=0)))


def test_since_needs_a_time_zone() -> None:
    hoplog = Hoplog(key="k", base_url="http://127.0.0.1:1")
    with pytest.raises(TypeError, match="time zone"):
        hoplog.clicks.poll(since=datetime(2026, 11, 20))
    with pytest.raises(TypeError, match="time zone"):
        hoplog.clicks.poll(since="2026-11-20T10:00:00")
    with pytest.raises(ValueError):
        hoplog.clicks.poll(since="yesterday")
    assert beginning_of("2026-11-20", None)["since"] == "2026-11-20T00:00:00.000000Z"
    with pytest.raises(TypeError, match="not both"):
        hoplog.clicks.poll(since="2026-11-20T10:00:00Z", state={"since": "s", "seen": []})


def click_event(name: str) -> str:
    return f'id: at-{name}\nevent: click\ndata: {{"id":"{name}","city":"Zürich"}}\n\n'


STREAMS = [
    Reply(body=f"retry: 1000\nid: at-0\n\n: comment\n\n{click_event('a')}"),
    Reply(body=f"{click_event('b')}id: at-c\nevent: cli", cut="within"),
    failure(503, "unavailable", 0),
    Reply(body=click_event("c")),
]
RESUMED = ["", "?since=at-a", "?since=at-b", "?since=at-b"]


def test_live_clicks_continue_from_the_last_one_on(script: Start) -> None:
    server = script(*STREAMS)
    seen = []
    for click in Hoplog(key="k", base_url=server.url, retries=0).clicks.live():
        seen.append((click["id"], click["city"]))
        if click["id"] == "c":
            break
    assert seen == [("a", "Zürich"), ("b", "Zürich"), ("c", "Zürich")]
    assert [one.path.replace("/api/v1/clicks/live", "") for one in server.got] == RESUMED


def test_asynchronous_live_clicks_continue_from_the_last_one_on(script: Start) -> None:
    server = script(*STREAMS)

    async def read() -> None:
        async with AsyncHoplog(key="k", base_url=server.url, retries=0) as hoplog:
            seen = []
            async for click in hoplog.clicks.live():
                seen.append(click["id"])
                if click["id"] == "c":
                    break
            assert seen == ["a", "b", "c"]

    asyncio.run(read())
    assert [one.path.replace("/api/v1/clicks/live", "") for one in server.got] == RESUMED


def test_events_are_the_same_in_pieces_of_any_length() -> None:
    text = f": comment\n\n{click_event('a')}id: at-b\ndata: \u2028 one\ndata: two\n\n"
    whole = list(EventParser().feed(text))
    assert [one.data for one in whole] == ["", '{"id":"a","city":"Zürich"}', "\u2028 one\ntwo"]
    for length in range(1, 12):
        parser = EventParser()
        pieces = [text[at : at + length] for at in range(0, len(text), length)]
        assert [event for piece in pieces for event in parser.feed(piece)] == whole
