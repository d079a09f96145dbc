"""Gives each case of schemathesis a key, and half of them ids that exist.

What a case gets follows from the case alone, so that a failing one is the same when it is tried again.
"""

import gc
import json
import os
import zlib

import schemathesis
from schemathesis.generation.meta import TestPhase

# Strategies live as long as the run: by default Python looks for garbage among them a fifth of its CPU time.
gc.set_threshold(100_000, 50, 1000)

with open(os.environ["FUZZ_SETUP"], encoding="utf-8") as file:
    # `callers`: headers by kind; `paths`: values of path parameters by operation; `fields`: values by name;
    # `edge_share`: which part of the cases at edges is tried, chosen by `seed`.
    SETUP = json.load(file)

# How many of 16 cases each kind of caller makes, by what the operation asks for first.
SHARES = {
    "secret": ["secret"] * 8 + ["session"] * 3 + ["read"] * 2 + ["publishable"] * 2 + ["partner"],
    "session": ["session"] * 14 + ["secret", "publishable"],
    "partner": ["partner"] * 14 + ["secret", "session"],
    "nobody": ["nobody"] * 12 + ["session"] * 2 + ["secret", "publishable"],
}


def number_of(case):
    parts = (case.method, case.operation.path, case.path_parameters, case.query, case.body)
    return zlib.crc32(repr(parts).encode("utf-8", "surrogatepass"))


def with_real_ids(value, number):
    if isinstance(value, dict):
        return {
            key: SETUP["fields"][key]
            if key in SETUP["fields"] and isinstance(inner, str) and (number + len(key)) % 2
            else with_real_ids(inner, number)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [with_real_ids(inner, number) for inner in value]
    return value


@schemathesis.serializer("image/png")
def image(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.hook
def filter_case(context, case):
    if case.meta is None or case.meta.phase.name != TestPhase.COVERAGE:
        return True
    return zlib.crc32(f"{SETUP['seed']} {number_of(case)}".encode()) < SETUP["edge_share"] * 2**32


@schemathesis.hook
def before_call(context, case, kwargs):
    number = number_of(case)
    security = case.operation.definition.raw.get("security") or []
    first = next(iter(security[0])) if security else "nobody"
    caller = SHARES[first][number % 16]
    case.headers = {**(case.headers or {}), **SETUP["callers"][caller]}
    real = SETUP["paths"].get(f"{case.method.upper()} {case.operation.path}")
    # What is deleted is missing from the other cases.
    if real and number // 16 % (20 if case.method.upper() == "DELETE" else 2) == 0:
        case.path_parameters = dict(real)
    case.body = with_real_ids(case.body, number)
