"""The client of Hoplog: short links, every click once, webhooks."""

from ._generated import types
from ._generated.types import WebhookEvent
from ._operation import RequestOptions
from ._poll import PollBatch, PollState
from .client import AsyncHoplog, Hoplog
from .errors import ErrorDetail, HoplogError, WebhookVerificationError
from .webhooks import verify_webhook

__all__ = [
    "AsyncHoplog",
    "ErrorDetail",
    "Hoplog",
    "HoplogError",
    "PollBatch",
    "PollState",
    "RequestOptions",
    "WebhookEvent",
    "WebhookVerificationError",
    "types",
    "verify_webhook",
]
