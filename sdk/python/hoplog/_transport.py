"""Makes calls, with their retries."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import time
from typing import Any, Dict, Optional, Tuple
from urllib.parse import quote

import httpx

from ._operation import Operation, Query, RequestOptions
from ._retry import may_repeat, pause_of
from .errors import HoplogError, error_of


class Settings:
    """The settings of a client."""

    def __init__(self, key: str, base_url: Optional[str], timeout: float, retries: int) -> None:
        base_url = base_url or os.environ.get("HOPLOG_URL")
        if not key:
            raise TypeError("`key` is required: a key of the workspace, `lk_live_...`")
        if not base_url:
            raise TypeError("`base_url` is required: pass it, or set HOPLOG_URL")
        self.key = key
        self.api_url = re.sub(r"/api/v1$", "", base_url.rstrip("/")) + "/api/v1"
        self.timeout = timeout
        self.retries = retries

    def request(
        self,
        operation: Operation,
        path: Tuple[str, ...],
        query: Query,
        body: Any,
        options: RequestOptions,
    ) -> Dict[str, Any]:
        """Returns the arguments of `httpx.Client.build_request`."""
        headers = {"authorization": f"Bearer {self.key}"}
        content: Optional[bytes] = None
        if operation.body == "json":
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
            headers["content-type"] = "application/json"
        elif operation.body == "text":
            content = body.encode()
            # Rows of clicks are CSV, or NDJSON, whose lines begin with a brace.
            is_json = body.lstrip().startswith("{")
            headers["content-type"] = "application/x-ndjson" if is_json else "text/csv"
        elif operation.body == "bytes":
            content = body
            headers["content-type"] = "application/octet-stream"
        # One key for all attempts of a call: a create whose response was lost is made once.
        if operation.idempotent:
            headers["idempotency-key"] = options.get("idempotency_key") or secrets.token_hex(16)
        return {
            "method": operation.method,
            "url": self.api_url + _filled(operation.path, path),
            "params": {name: _text_of(value) for name, value in {**query, **operation.fixed}.items() if value is not None},
            "headers": headers,
            "content": content,
            "timeout": options.get("timeout", self.timeout),
        }


def _filled(path: str, values: Tuple[str, ...]) -> str:
    rest = list(values)

    def value_of(found: re.Match[str]) -> str:
        value = rest.pop(0)
        if not isinstance(value, str) or value == "":
            raise TypeError(f"`{found[1]}` must be a text that is not empty")
        return quote(value, safe="")

    return re.sub(r"\{(\w+)\}", value_of, path)


def _text_of(value: Any) -> str:
    """A comma within a value of a list is escaped, as the API's filters say."""
    if isinstance(value, (list, tuple)):
        return ",".join(str(one).replace(",", "\\,") for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def result_of(operation: Operation, response: httpx.Response) -> Any:
    """Returns the JSON of a response, or the response itself. Its body has been read."""
    if not response.is_success:
        raise error_of(response)
    if operation.raw:
        return response
    try:
        return response.json()
    except ValueError:
        raise error_of(response) from None


def lost(error: httpx.RequestError, url: object) -> HoplogError:
    """Returns the error of an attempt without a response."""
    code = "timeout" if isinstance(error, httpx.TimeoutException) else "network"
    said = str(error) or type(error).__name__
    return HoplogError(f"no response from {url}: {said}", status=0, code=code)


class Transport:
    """Makes the calls of a client."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self._settings = settings
        self._http = http

    def __call__(
        self,
        operation: Operation,
        path: Tuple[str, ...],
        query: Query,
        body: Any,
        options: Optional[RequestOptions],
        *,
        stream: bool = False,
    ) -> Any:
        """Returns the result of an operation. With `stream` its response is open, and the caller closes it."""
        options = options or {}
        arguments = self._settings.request(operation, path, query, body, options)
        retries = options.get("retries", self._settings.retries)
        attempt = 0
        while True:
            try:
                return self._attempt(operation, arguments, stream)
            except HoplogError as error:
                if attempt >= retries or not may_repeat(operation, error):
                    raise
                time.sleep(pause_of(attempt, error.retry_after))
                attempt += 1

    def _attempt(self, operation: Operation, arguments: Dict[str, Any], stream: bool) -> Any:
        try:
            response = self._http.send(self._http.build_request(**arguments), stream=stream)
            if stream and response.is_success:
                return response
            response.read()
        except httpx.RequestError as error:
            raise lost(error, arguments["url"]) from error
        return result_of(operation, response)


class AsyncTransport:
    """Makes the calls of an asynchronous client."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http

    async def __call__(
        self,
        operation: Operation,
        path: Tuple[str, ...],
        query: Query,
        body: Any,
        options: Optional[RequestOptions],
        *,
        stream: bool = False,
    ) -> Any:
        """Returns the result of an operation. With `stream` its response is open, and the caller closes it."""
        options = options or {}
        arguments = self._settings.request(operation, path, query, body, options)
        retries = options.get("retries", self._settings.retries)
        attempt = 0
        while True:
            try:
                return await self._attempt(operation, arguments, stream)
            except HoplogError as error:
                if attempt >= retries or not may_repeat(operation, error):
                    raise
                await asyncio.sleep(pause_of(attempt, error.retry_after))
                attempt += 1

    async def _attempt(self, operation: Operation, arguments: Dict[str, Any], stream: bool) -> Any:
        try:
            response = await self._http.send(self._http.build_request(**arguments), stream=stream)
            if stream and response.is_success:
                return response
            await response.aread()
        except httpx.RequestError as error:
            raise lost(error, arguments["url"]) from error
        return result_of(operation, response)
