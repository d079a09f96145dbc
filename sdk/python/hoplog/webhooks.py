"""Verifies webhooks as Standard Webhooks 1.0 defines them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Mapping, Sequence, Union, cast

from ._generated.types import WebhookEvent
from .errors import WebhookVerificationError


def verify_webhook(
    raw_body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
) -> WebhookEvent:
    """Returns the event of a genuine webhook.

    `raw_body` is the body as it was received, before a parser changed it. `secret` is `whsec_...`, or several while a
    secret is rotated. Raises `WebhookVerificationError` when the signature is wrong, or the time differs by more than
    `tolerance_seconds`.
    """
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    identifier = _header_of(headers, "webhook-id")
    timestamp = _header_of(headers, "webhook-timestamp")
    signatures = _header_of(headers, "webhook-signature").split(" ")
    # Sixteen digits are beyond any time, and far below what Python converts.
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 16):
        raise WebhookVerificationError("`webhook-timestamp` must be in seconds")
    if abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise WebhookVerificationError(
            f"`webhook-timestamp` differs from now by more than {tolerance_seconds} seconds"
        )
    signed = f"{identifier}.{timestamp}.".encode() + body
    for one in [secret] if isinstance(secret, str) else secret:
        expected = "v1," + base64.b64encode(hmac.digest(_key_of(one), signed, hashlib.sha256)).decode()
        if any(hmac.compare_digest(expected.encode(), given.encode()) for given in signatures):
            return _event_of(body)
    raise WebhookVerificationError("no signature of `webhook-signature` is valid for the body and the secret")


def _header_of(headers: Mapping[str, str], name: str) -> str:
    value = next((value for key, value in headers.items() if key.lower() == name), "")
    if not value:
        raise WebhookVerificationError(f"the header `{name}` is missing")
    return value


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise TypeError("the secret must be the `whsec_...` that the API returned")
    return key


def _event_of(body: bytes) -> WebhookEvent:
    try:
        return cast(WebhookEvent, json.loads(body))
    except ValueError:
        raise WebhookVerificationError("the body must be JSON") from None
