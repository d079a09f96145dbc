"""Errors of calls and of webhooks."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, Optional, TypedDict

import httpx

_READ = 4_000
_SHOWN = 200
"""Longest part of a response that is not the API's: what is read of it, and what of its text is in a message."""


class ErrorDetail(TypedDict):
    """A field of a request that the API refused."""

    path: str
    message: str


class HoplogError(Exception):
    """The error of every call that failed."""

    status: int
    """HTTP status of the response. 0 without one: `code` is then `network` or `timeout`."""
    code: str
    """`not_found`, `bad_request`, ... as the API reference lists them."""
    message: str
    details: List[ErrorDetail]
    """The refused fields of a `bad_request`."""
    request_id: Optional[str]
    """Id of the request, which the logs of the service have too."""
    retry_after: Optional[int]
    """Seconds after which the call may be repeated, if the API said so."""
    doc_url: Optional[str]
    """Page of the documentation about this error."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Optional[List[ErrorDetail]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        doc_url: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details = details or []
        self.request_id = request_id
        self.retry_after = retry_after
        self.doc_url = doc_url


class WebhookVerificationError(Exception):
    """A webhook that is not genuine, or too old. Respond with 400."""


def error_of(response: httpx.Response) -> HoplogError:
    """Returns the error that a response is. Its body has been read."""
    status = response.status_code
    request_id = response.headers.get("x-request-id")
    retry_after = _seconds_of(response.headers.get("retry-after"))
    said = _body_of(response.text)
    if said is None:
        message = f"HTTP {status} is not a response of Hoplog: {_text_of(response.text)}"
        return HoplogError(
            message, status=status, code="unexpected_response", request_id=request_id, retry_after=retry_after
        )
    return HoplogError(
        said["message"],
        status=status,
        code=said["code"],
        details=said.get("details"),
        request_id=said.get("request_id", request_id),
        retry_after=retry_after,
        doc_url=said.get("doc_url"),
    )


def _text_of(body: str) -> str:
    """Returns the text of a page of a proxy, on one line."""
    text = re.sub(r"<(style|script)\b.*?</\1>|<[^<>]*>", " ", body[:_READ], flags=re.DOTALL | re.IGNORECASE)
    return " ".join(text.split())[:_SHOWN]


def _body_of(text: str) -> Optional[Dict[str, Any]]:
    try:
        error = json.loads(text)["error"]
        return error if isinstance(error["code"], str) and isinstance(error["message"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def _seconds_of(text: Optional[str]) -> Optional[int]:
    """`Retry-After` is a number of seconds or a date."""
    if text is None:
        return None
    if text.isdigit():
        return int(text)
    try:
        return max(0, round((parsedate_to_datetime(text) - datetime.now(timezone.utc)).total_seconds()))
    except (ValueError, TypeError):
        return None
