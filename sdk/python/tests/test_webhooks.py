from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Dict, Optional

import pytest

from hoplog import WebhookVerificationError, verify_webhook

SECRET, FORMER = b"0123456789abcdefghijklmnopqrstuv", b"vutsrqponmlkjihgfedcba9876543210"
PRINTED = "whsec_" + base64.b64encode(SECRET).decode()
BODY = json.dumps({"id": "e-1", "type": "sale.created", "data": {"city": "Zürich"}}, ensure_ascii=False)


def signed(body: str = BODY, secret: bytes = SECRET, age: float = 0) -> Dict[str, str]:
    at = str(int(time.time() - age))
    signature = base64.b64encode(hmac.digest(secret, f"e-1.{at}.{body}".encode(), hashlib.sha256)).decode()
    return {"webhook-id": "e-1", "webhook-timestamp": at, "webhook-signature": f"v1,{signature}"}


@pytest.mark.parametrize("body", [BODY, BODY.encode(), bytearray(BODY.encode())])
def test_a_genuine_webhook_is_the_event(body: bytes) -> None:
    event = verify_webhook(body, signed(), PRINTED)
    assert event["type"] == "sale.created" and event["id"] == "e-1"


def test_headers_may_have_any_case_and_secrets_may_be_rotated() -> None:
    verify_webhook(BODY, {name.title(): value for name, value in signed().items()}, PRINTED)
    former = signed(secret=FORMER)
    verify_webhook(BODY, former, [PRINTED, "whsec_" + base64.b64encode(FORMER).decode()])
    both = {**former, "webhook-signature": f"{former['webhook-signature']} {signed()['webhook-signature']}"}
    verify_webhook(BODY, both, PRINTED)
    verify_webhook(BODY, signed(age=400), PRINTED, tolerance_seconds=500)


@pytest.mark.parametrize(
    "body, changed",
    [
        (BODY.replace("e-1", "e-2"), {}),
        (f"\ufeff{BODY}", {}),
        (BODY, {"webhook-id": "e-2"}),
        (BODY, {"webhook-timestamp": str(int(time.time()) - 1)}),
        (BODY, {"webhook-timestamp": "NaN"}),
        (BODY, {"webhook-timestamp": "²"}),
        (BODY, {"webhook-timestamp": "9" * 400}),
        (BODY, {"webhook-timestamp": "9" * 5_000}),
        (BODY, {"webhook-signature": "v2,AAAA"}),
        (BODY, {"webhook-signature": "v1,§"}),
        (BODY, {"webhook-signature": None}),
        (BODY, signed(secret=FORMER)),
        (BODY, signed(age=400)),
        (BODY, signed(age=-400)),
        ("no", signed("no")),
    ],
)
def test_a_webhook_that_is_altered_old_or_not_json_is_refused(body: str, changed: Dict[str, Optional[str]]) -> None:
    headers = {name: value for name, value in {**signed(), **changed}.items() if value is not None}
    for raw in (body, body.encode()):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(raw, headers, PRINTED)


def test_a_missing_secret_is_a_fault_of_the_receiver() -> None:
    with pytest.raises(TypeError):
        verify_webhook(BODY, signed(), "")
