"""Server-sent events."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Optional


class StreamEvent(NamedTuple):
    id: Optional[str]
    event: str
    data: str


class EventParser:
    """Parses the text of a stream as it comes."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, text: str) -> Iterator[StreamEvent]:
        """Returns the events that are complete with this text."""
        *blocks, self._rest = (self._rest + text).split("\n\n")
        for block in blocks:
            yield _event_of(block)


def _event_of(block: str) -> StreamEvent:
    last: Optional[str] = None
    event = ""
    data = []
    # A text may have other ends of lines within it, which `splitlines` would split.
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id":
            last = value
        elif name == "event":
            event = value
        elif name == "data":
            data.append(value)
    return StreamEvent(last, event, "\n".join(data))
