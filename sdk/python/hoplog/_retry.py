"""Which failed attempts are repeated, and when."""

from __future__ import annotations

import random
from typing import Optional

from ._operation import Operation
from .errors import HoplogError

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 8.0
_LONGEST_RETRY_AFTER = 60
"""A longer `Retry-After` is left to the caller. Seconds."""
_OUTAGES = (502, 503, 504)
"""The service, or a proxy in front of it, did not do the call: now it may."""
LONGEST_OUTAGE = 6
"""Times that the pause of an outage doubles."""


def may_pass(error: HoplogError) -> bool:
    """Whether an attempt failed for a reason that may pass: no response, too many calls, or an outage."""
    return error.status in (0, 429, *_OUTAGES)


def may_repeat(operation: Operation, error: HoplogError) -> bool:
    """Whether a failed attempt may be repeated without doing twice what it asked for."""
    if (error.retry_after or 0) > _LONGEST_RETRY_AFTER:
        return False
    # A 429 did nothing. An earlier attempt of the same create may still run.
    if error.status == 429 or error.code == "idempotency_in_progress":
        return True
    return may_pass(error) and (operation.repeatable or operation.idempotent)


def pause_of(attempt: int, retry_after: Optional[int] = None) -> float:
    """Returns how long to wait before a retry, in seconds: longer each time, and at least `Retry-After`.

    `attempt` is the number of failed attempts so far, minus one.
    """
    longest: float = min(_FIRST_SECONDS * 2**attempt, _LONGEST_SECONDS)
    return (retry_after or 0) + longest * random.uniform(0.5, 1)
