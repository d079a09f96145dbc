"""Lists: all rows, page by page."""

from __future__ import annotations

from typing import Any, AsyncIterator, Generic, Iterator, Optional, Tuple, TypeVar, cast

from ._operation import AsyncCall, Call, Operation, Query, RequestOptions

Row = TypeVar("Row")
Page = TypeVar("Page")


def _next_query(operation: Operation, query: Query, page: Any) -> Optional[Query]:
    """Returns the query of the page that follows; None after the last one."""
    cursor = page.get("next_cursor")
    if operation.cursor is None or cursor is None:
        return None
    # Oldest first, a page of clicks ends where the next one begins.
    name = "since_after" if query.get("order") == "asc" else operation.cursor
    return {**query, name: cursor}


class Rows(Generic[Row, Page]):
    """All rows of a list: `for link in hoplog.links.list()`. It requests nothing before it is read."""

    def __init__(
        self,
        call: Call,
        operation: Operation,
        path: Tuple[str, ...],
        query: Query,
        body: Any,
        options: Optional[RequestOptions],
    ) -> None:
        self._call, self._operation, self._path, self._query, self._options = call, operation, path, query, options

    def page(self) -> Page:
        """Requests one page: the first, or that of the query's cursor."""
        return self._page(self._query)

    def pages(self) -> Iterator[Page]:
        """All pages, from the one of the query's cursor on."""
        query: Optional[Query] = self._query
        while query is not None:
            page = self._page(query)
            yield page
            query = _next_query(self._operation, query, page)

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            yield from cast(Any, page)[self._operation.rows]

    def _page(self, query: Query) -> Page:
        return cast(Page, self._call(self._operation, self._path, query, None, self._options))


class AsyncRows(Generic[Row, Page]):
    """All rows of a list: `async for link in hoplog.links.list()`. It requests nothing before it is read."""

    def __init__(
        self,
        call: AsyncCall,
        operation: Operation,
        path: Tuple[str, ...],
        query: Query,
        body: Any,
        options: Optional[RequestOptions],
    ) -> None:
        self._call, self._operation, self._path, self._query, self._options = call, operation, path, query, options

    async def page(self) -> Page:
        """Requests one page: the first, or that of the query's cursor."""
        return await self._page(self._query)

    async def pages(self) -> AsyncIterator[Page]:
        """All pages, from the one of the query's cursor on."""
        query: Optional[Query] = self._query
        while query is not None:
            page = await self._page(query)
            yield page
            query = _next_query(self._operation, query, page)

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            for row in cast(Any, page)[self._operation.rows]:
                yield row

    async def _page(self, query: Query) -> Page:
        return cast(Page, await self._call(self._operation, self._path, query, None, self._options))
