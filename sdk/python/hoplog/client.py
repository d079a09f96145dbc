"""The clients: `Hoplog` and `AsyncHoplog`."""

from __future__ import annotations

from typing import Optional, Type, TypeVar

import httpx

from ._clicks import AsyncClicksWithFeeds, ClicksWithFeeds
from ._generated.operations import AsyncGroups, Groups
from ._transport import AsyncTransport, Settings, Transport

Self = TypeVar("Self", bound="Hoplog")
AsyncSelf = TypeVar("AsyncSelf", bound="AsyncHoplog")


class Hoplog(Groups):
    """A client of the API. Each operation of the API reference is a method: `hoplog.links.create(...)`.

    `key` is one of the workspace, `lk_live_...`. `base_url` is the address of the API; default: the environment
    variable `HOPLOG_URL`. `timeout` is the longest silence of one attempt in seconds. `retries` is how often a failed
    attempt is repeated.
    """

    def __init__(
        self,
        *,
        key: str,
        base_url: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 3,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        settings = Settings(key, base_url, timeout, retries)
        self._http = http_client or httpx.Client()
        transport = Transport(settings, self._http)
        super().__init__(transport)
        self.clicks: ClicksWithFeeds = ClicksWithFeeds(transport)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: object, trace: object) -> None:
        self.close()


class AsyncHoplog(AsyncGroups):
    """A client of the API for `async` programs, with the methods and arguments of `Hoplog`."""

    def __init__(
        self,
        *,
        key: str,
        base_url: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 3,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        settings = Settings(key, base_url, timeout, retries)
        self._http = http_client or httpx.AsyncClient()
        transport = AsyncTransport(settings, self._http)
        super().__init__(transport)
        self.clicks: AsyncClicksWithFeeds = AsyncClicksWithFeeds(transport)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self: AsyncSelf) -> AsyncSelf:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: object, trace: object) -> None:
        await self.close()
