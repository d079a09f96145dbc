"""How an operation of the API is requested."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, Optional, Tuple, TypedDict


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    """Below `/api/v1`, with its parameters in braces."""
    body: Optional[str] = None
    """`json` or `text`."""
    idempotent: bool = False
    """Takes an `Idempotency-Key`, so that a repeated request creates nothing."""
    repeatable: bool = False
    """A repeated request has the effect of one."""
    raw: bool = False
    """The response is not JSON: the caller gets it as it is."""
    rows: Optional[str] = None
    """A list: the field of a page that has its rows."""
    cursor: Optional[str] = None
    """The query parameter that takes the `next_cursor` of a page."""
    fixed: Dict[str, str] = field(default_factory=dict)
    """Query parameters that are always sent."""


class RequestOptions(TypedDict, total=False):
    """Options of one call."""

    timeout: float
    """Longest silence of one attempt in seconds. Default: that of the client."""
    retries: int
    """How often a failed attempt is repeated. Default: that of the client."""
    idempotency_key: str
    """Key of a call that creates, for callers who repeat it themselves. Default: a random one for each call."""


Query = Dict[str, Any]
Call = Callable[[Operation, Tuple[str, ...], Query, Any, Optional[RequestOptions]], Any]
AsyncCall = Callable[[Operation, Tuple[str, ...], Query, Any, Optional[RequestOptions]], Awaitable[Any]]
