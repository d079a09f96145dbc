"""Every click once, over `GET /clicks`."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

if TYPE_CHECKING:
    from ._generated.types import Click, ClicksPage

_MICROSECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_BEGINNING = "1970-01-01T00:00:00.000000Z"
_PAGE = 500


class PollRound(TypedDict):
    """A round that is not finished: where the next one begins, what it has to drop, and the next page."""

    watermark: str
    seen: List[str]
    before: str


class PollState(TypedDict):
    """How far a poll is, as JSON. Store it, and pass it to the next poll of the same clicks.

    A round reads every click since `since`, newest first, in pages. Its first page has the `watermark`: every click
    before it is visible already, so the next round begins there. Clicks after it may come twice, and `seen` drops
    them.
    """

    since: str
    seen: List[str]
    """Ids of clicks since `since` that were returned in earlier rounds."""
    round: NotRequired[PollRound]


class PollBatch(NamedTuple):
    """Clicks of a page that are new, oldest first, and the state after them."""

    clicks: List[Click]
    state: PollState


def beginning_of(since: Union[str, datetime, None], state: Optional[PollState]) -> PollState:
    """Returns where a poll begins."""
    if state is not None and since is not None:
        raise TypeError("pass `state` or `since`, not both")
    if state is not None:
        return state
    return {"since": _BEGINNING if since is None else _microseconds_of(since), "seen": []}


def _microseconds_of(instant: Union[str, datetime]) -> str:
    """Returns an instant as the API writes it. Their texts then sort as their times."""
    if isinstance(instant, str):
        if _MICROSECONDS.fullmatch(instant):
            return instant
        if re.fullmatch(r"\d{4}-\d\d-\d\d", instant):
            instant += "T00:00:00Z"
        # Python 3.10 knows no `Z`.
        instant = datetime.fromisoformat(re.sub(r"Z$", "+00:00", instant))
    if instant.tzinfo is None:
        raise TypeError("`since` must have a time zone")
    return instant.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def query_of(
    state: PollState, link_ids: Optional[Sequence[str]], filters: Optional[Dict[str, Any]]
) -> Dict[str, Any]:
    """Returns the query of the next page."""
    return {
        **(filters or {}),
        "link_ids": None if link_ids is None else list(link_ids),
        "limit": _PAGE,
        "since": state["since"],
        "before": state["round"]["before"] if "round" in state else None,
    }


def next_batch(state: PollState, page: ClicksPage) -> PollBatch:
    """Returns the new clicks of a page, and the state after it."""
    # What was visible before `since` once needs no second look. A page that follows has a later watermark: clicks
    # before that one may have been missed by the first page.
    started = state.get("round")
    watermark = started["watermark"] if started else max(page["watermark"], state["since"])
    dropped = set(state["seen"])
    # A dict keeps the order.
    in_round = dict.fromkeys(started["seen"] if started else [])
    clicks = [one for one in page["clicks"] if one["id"] not in dropped and one["id"] not in in_round]
    in_round.update((one["id"], None) for one in page["clicks"] if one["ts"] >= watermark)
    before = page["next_cursor"]
    after: PollState
    if before is None:
        after = {"since": watermark, "seen": list(in_round)}
    else:
        rest: PollRound = {"watermark": watermark, "seen": list(in_round), "before": before}
        after = {"since": state["since"], "seen": state["seen"], "round": rest}
    return PollBatch(clicks[::-1], after)
