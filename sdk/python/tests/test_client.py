from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, List
from urllib.parse import parse_qsl, urlsplit

import pytest
from conftest import Reply, Script, failure, ok

from hoplog import AsyncHoplog, Hoplog, HoplogError

OK = ok({"id": "x"})
Start = Callable[..., Script]


def client(script: Script, **options: Any) -> Hoplog:
    return Hoplog(key="lk_live_x", base_url=script.url, **options)


def queries(script: Script) -> List[Any]:
    return [parse_qsl(urlsplit(one.path).query) for one in script.got]


def test_a_call_has_its_path_query_body_and_key(script: Start) -> None:
    server = script(OK)
    hoplog = client(server)
    hoplog.links.update("a/b", {"name": "Zürich"})
    hoplog.webhooks.get_delivery("h", "d")
    hoplog.clicks.list(link_ids=["a", "b"], city=["Washington, D.C.", "Paris"], bots="include").page()
    hoplog.links.list().page()
    hoplog.clicks.import_('{"ts":1}\n', **{"from": "csv"})
    assert [(one.method, urlsplit(one.path).path) for one in server.got] == [
        ("PATCH", "/api/v1/links/a%2Fb"),
        ("GET", "/api/v1/webhooks/h/deliveries/d"),
        ("GET", "/api/v1/clicks"),
        ("GET", "/api/v1/links"),
        ("POST", "/api/v1/clicks/import"),
    ]
    assert queries(server)[2:] == [
        [("link_ids", "a,b"), ("city", "Washington\\, D.C.,Paris"), ("bots", "include")],
        [("view", "records")],
        [("from", "csv")],
    ]
    assert server.got[0].body == '{"name":"Zürich"}'
    assert server.got[0].headers["content-type"] == "application/json"
    assert server.got[4].headers["content-type"] == "application/x-ndjson"
    assert {one.headers["authorization"] for one in server.got} == {"Bearer lk_live_x"}


def test_an_empty_id_is_refused_before_it_becomes_another_path(script: Start) -> None:
    server = script(OK)
    with pytest.raises(TypeError, match="`id` must be a text that is not empty"):
        client(server).links.delete("")
    assert server.got == []


def test_a_client_needs_a_key_and_an_address(script: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPLOG_URL", raising=False)
    with pytest.raises(TypeError, match="`key` is required"):
        Hoplog(key="", base_url="http://127.0.0.1")
    with pytest.raises(TypeError, match="`base_url` is required"):
        Hoplog(key="lk_live_x")
    server = script(OK)
    for base_url in (server.url, f"{server.url}/", f"{server.url}/api/v1", f"{server.url}/api/v1/"):
        Hoplog(key="lk_live_x", base_url=base_url).me.get()
    monkeypatch.setenv("HOPLOG_URL", server.url)
    Hoplog(key="lk_live_x").me.get()
    assert [one.path for one in server.got] == ["/api/v1/me"] * 5


def test_an_error_has_all_that_the_api_says(script: Start) -> None:
    details = [{"path": "slug", "message": "is taken"}]
    error = {"code": "conflict", "message": "taken", "details": details, "request_id": "r-2", "doc_url": "http://d"}
    with pytest.raises(HoplogError) as caught:
        client(script(ok({"error": error}, 409))).folders.create({"name": "F"})
    thrown = caught.value
    assert (thrown.status, thrown.code, thrown.message, str(thrown)) == (409, "conflict", "taken", "taken")
    assert (thrown.details, thrown.request_id, thrown.doc_url) == (details, "r-2", "http://d")
    assert thrown.retry_after is None


@pytest.mark.parametrize("reply", [Reply(404, "<h1>404\nnginx</h1>"), Reply(200, "<h1>404 nginx</h1>")])
def test_what_is_not_a_response_of_the_api_is_an_error_that_shows_it(script: Start, reply: Reply) -> None:
    with pytest.raises(HoplogError, match="Hoplog: 404 nginx$") as caught:
        client(script(reply)).me.get()
    assert (caught.value.status, caught.value.code) == (reply.status, "unexpected_response")


def test_a_redirect_is_not_followed(script: Start) -> None:
    server = script(Reply(301, "", {"location": "/api/v1/folders"}), OK)
    with pytest.raises(HoplogError, match="HTTP 301"):
        client(server).folders.create({"name": "F"})
    assert len(server.got) == 1


def test_an_error_without_a_response_says_why_there_is_none() -> None:
    with pytest.raises(HoplogError, match="127.0.0.1:1/api/v1/me: .*refused") as caught:
        Hoplog(key="k", base_url="http://127.0.0.1:1", retries=0).me.get()
    assert (caught.value.status, caught.value.code) == (0, "network")


REPEATED = [
    Reply(cut="before"),
    Reply(cut="within"),
    failure(429, "too_many_requests", 0),
    failure(503, "unavailable", 0),
    Reply(502, "bad gateway"),
    failure(409, "idempotency_in_progress"),
]


@pytest.mark.parametrize("reply", REPEATED)
def test_a_create_is_repeated_with_one_key(script: Start, reply: Reply) -> None:
    server = script(reply, OK)
    hoplog = client(server)
    assert hoplog.folders.create({"name": "F"}) == {"id": "x"}
    keys = [one.headers["idempotency-key"] for one in server.got]
    assert len(keys) == 2 and len(set(keys)) == 1 and len(keys[0]) == 32
    hoplog.folders.create({"name": "F"})
    hoplog.folders.create({"name": "F"}, options={"idempotency_key": "mine"})
    assert server.got[2].headers["idempotency-key"] != keys[0]
    assert server.got[3].headers["idempotency-key"] == "mine"


@pytest.mark.parametrize("reply", REPEATED)
def test_an_asynchronous_create_is_repeated_with_one_key(script: Start, reply: Reply) -> None:
    server = script(reply, OK)

    async def create() -> Any:
        async with AsyncHoplog(key="lk_live_x", base_url=server.url) as hoplog:
            return await hoplog.folders.create({"name": "F"})

    assert asyncio.run(create()) == {"id": "x"}
    assert len({one.headers["idempotency-key"] for one in server.got}) == 1
    assert len(server.got) == 2


@pytest.mark.parametrize("reply", [Reply(cut="before"), failure(503, "unavailable")])
def test_a_call_that_may_have_had_its_effect_is_not_repeated(script: Start, reply: Reply) -> None:
    server = script(reply, OK)
    with pytest.raises(HoplogError):
        client(server).signups.approve("s")
    assert len(server.got) == 1
    limited = script(failure(429, "too_many_requests", 0), OK)
    client(limited).signups.approve("s")
    assert len(limited.got) == 2


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 500])
def test_other_statuses_are_not_repeated(script: Start, status: int) -> None:
    server = script(failure(status, "code"))
    with pytest.raises(HoplogError) as caught:
        client(server).me.get()
    assert (caught.value.status, len(server.got)) == (status, 1)


def test_retries_end_and_wait_as_retry_after_says_unless_it_is_long(script: Start) -> None:
    server = script(failure(503, "unavailable", 1))
    began = time.monotonic()
    with pytest.raises(HoplogError) as caught:
        client(server, retries=1).me.get()
    assert (caught.value.retry_after, len(server.got)) == (1, 2)
    assert time.monotonic() - began > 1
    long = script(failure(429, "too_many_requests", 3_600))
    with pytest.raises(HoplogError):
        client(long).me.get()
    assert len(long.got) == 1


PAGES = [
    ok({"folders": [{"id": 1}, {"id": 2}], "next_cursor": "c-1"}),
    ok({"folders": [{"id": 3}], "next_cursor": None}),
]


def test_a_list_reads_all_pages_or_one(script: Start) -> None:
    server = script(*PAGES, *PAGES)
    hoplog = client(server)
    assert [folder["id"] for folder in hoplog.folders.list(limit=2)] == [1, 2, 3]
    assert hoplog.folders.list().page()["next_cursor"] == "c-1"
    assert queries(server) == [[("limit", "2")], [("limit", "2"), ("cursor", "c-1")], []]


def test_an_asynchronous_list_reads_all_pages_or_one(script: Start) -> None:
    server = script(*PAGES, *PAGES)

    async def read() -> None:
        async with AsyncHoplog(key="lk_live_x", base_url=server.url) as hoplog:
            assert [folder["id"] async for folder in hoplog.folders.list(limit=2)] == [1, 2, 3]
            assert (await hoplog.folders.list().page())["next_cursor"] == "c-1"

    asyncio.run(read())
    assert len(server.got) == 3


def test_clicks_are_paged_by_before_and_oldest_first_by_since_after(script: Start) -> None:
    page = {"clicks": [{"id": "a"}], "next_cursor": "c", "watermark": "w"}
    replies = [ok(page), ok({**page, "next_cursor": None})]
    server = script(*replies, *replies)
    hoplog = client(server)
    list(hoplog.clicks.list())
    list(hoplog.clicks.list(order="asc", since="s"))
    asc = [("order", "asc"), ("since", "s")]
    assert queries(server) == [[], [("before", "c")], asc, [*asc, ("since_after", "c")]]


def test_numbers_that_are_not_json_are_refused(script: Start) -> None:
    server = script(OK)
    with pytest.raises(ValueError):
        client(server).track.order({"order_id": "o", "amount": float("nan"), "currency": "eur"})
    assert server.got == []
