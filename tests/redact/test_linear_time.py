"""Hostile texts cost linear time.

Processor time of one text against that of a text four times as long: linear growth gives 4,
quadratic growth 16. The bound lies between the two and leaves room for a busy machine.
"""

import json
import time

import pytest

from holdfast.redact import redact, redact_bytes

pytestmark = pytest.mark.slow

_DASHES = "-" * 5
_KEY_HEAD = f"{_DASHES}BEGIN PRIVATE KEY{_DASHES}"
HOSTILE = {
    "assignment": "password=",
    "open quote": 'password="',
    "escaped quote": 'api_key\\\\\\":',
    "name only": "token",
    "said in prose": "token is ",
    "web token": "eyJ",
    "web token part": "eyJhbGciOiJIUzI1NiJ9.",
    "key opening": f"{_DASHES}BEGIN ",
    "key head": _KEY_HEAD,
    "cut key": f"{_KEY_HEAD}\nAAAABBBBCCCCDDDDEEEE\n",
    "colon": "a:",
    "url": "://a:",
    "url with password": "://a:b@",
    "vendor prefix": "sk-",
    "bearer": "bearer ",
    "command": "curl -u ",
    "dots": ".abcdef",
    "backslashes": "\\",
    "quotes": '\\"',
    "secrets": "password=a1B2c3D4e5 ",
    "labels": "[redacted:x]",
    "option": "docker login -p ",
    "options on one line": "curl -u a:",
    "told": "password for the db on x is ",
    "told, technical": "password is c1" + "a.b2-" * 30 + "! ",
    "told behind": "hunter22 is the password ",
    "short": "pw ",
    "slash": "admin / ",
    "cookie": "cookie: a=b; ",
    "fields": "a:5432:b:c:",
    "colours": "\x1b[1m",
    "link": "\x1b]8;;",
    "putty": "Private-Lines: 9\nAAAA\n",
    "web key": '"kty":"d":"',
    "next line": "password:\n",
    "encoded": "password%3D",
    "header": "authorization: x ",
    "credentials": "creds: a / ",
    "piped": "echo a | sudo -S ",
    "manifest": "kind: Secret\n",
    "manifest with data": "kind: Secret\ndata:\n  a: QUFBQUFBQUE=\n",
    "manifest on one line": "kind: Secret data: a: QUFBQUFBQUE= ",
    "seed phrase": "mnemonic a ",
    "seed phrase of words": "mnemonic " + "abcd " * 11,
    "name and value": '"name": "password", "value"',
    "name and value, below": "name: password\n  value",
    "cell": "| password ",
    "set": "setenv api_key ",
    "default": "api_key || '",
    "pair in code": "auth=('a', '",
    "oracle": ":thin:a/",
    "value of an option": "az keyvault secret set --value ",
}
_SHORT = 30_000
_BOUND = 10


def _cost(text: str) -> float:
    row = json.dumps({"text": text}).encode()
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        redact(text)
        redact_bytes(row)
        redact_bytes(text.encode())
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_cost_grows_with_the_length(unit: str) -> None:
    short = unit * (_SHORT // len(unit))
    # Below two milliseconds the clock itself decides the ratio.
    assert _cost(short * 4) < _BOUND * max(_cost(short), 0.002)
