"""Hostile texts cost linear time.

Processor time of one text against that of a text four times as long: linear growth gives 4,
quadratic growth 16. The bound lies between the two and leaves room for a busy machine.
"""

import json
import re
import time

import pytest

from holdfast.redact import redact, redact_bytes
from holdfast.redact.commands import (
    ANNOUNCED,
    COMMAND_WORDS,
    HANDED_ON,
    OPTIONS,
    PRINTS_A_SECRET,
    TYPED,
)
from holdfast.redact.secret_patterns import FOREIGN, NUMBER_WORDS, PHRASES, WORDS

pytestmark = pytest.mark.slow

_DASHES = "-" * 5
_KEY_HEAD = f"{_DASHES}BEGIN PRIVATE KEY{_DASHES}"


def _commands() -> list[tuple[str, str]]:
    """Each option of the table, and a command that matches its pattern there."""
    words = (
        "docker login,mongosh,sshpass,mysql,7z,rar,redis-cli,http,java -jar,gh secret set"
        ",az keyvault secret set,aws put-parameter SecureString,ldapsearch,ldappasswd,smbclient"
        ",zip,ssh-keygen,openssl,openssl enc,curl,lftp,skopeo,beeline,snmpwalk,keytool,psexec"
        ",security unlock-keychain,security add-generic-password,doctl auth,netlify"
        ",useradd,kadmin,vagrant login,pdftotext,plink,x11vnc,nuget push,codecov,app publish"
    ).split(",")
    return [
        (option, next(word for word in words if re.search(command, word)))
        for option, command, _ in OPTIONS
    ]


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
    "user lines": "chpasswd:\n a:bcdefgh\n",
    "spoken": "331 a\nPASS ",
    "field of a tool": '"password","text":"',
    "seed of codes": "totp: ABCD EFGH ",
    "web keys": '{"kty":',
    "sshpass": "sshpass -p ",
    "twine": "twine -p ",
    "archive": "7z -p",
    "mongosh": "mongosh -p ",
    "settings": "password: a\n",
    "call": "PASSWORD=a(",
    "typed": "password').type('",
    "in another language": "kennwort ",
    "desktop": "rdp / ",
    "oracle command": "sqlplus a/",
    "value of an option": "az keyvault secret set --value ",
}
# What a finder looks for, and how a command and its option stand before a password.
FOUND = {
    *(f"{word} " for word in (*WORDS, *FOREIGN, *COMMAND_WORDS, *PHRASES)),
    *(f"{word}='" for word in (*WORDS, *FOREIGN)),
    *(f"{anchor} " for anchor, _ in ANNOUNCED),
    *(f"{anchor}('a', '" for anchor, _ in ANNOUNCED),
    *(f"{word}a | sudo -s " for word in HANDED_ON),
    *(f"{word}b\nc\n" for word in PRINTS_A_SECRET),
    *(f"password'){word}'" for word in TYPED),
    *(f"{word}: abandon " for word in NUMBER_WORDS),
    *(f"{word}: ab12-cd34\n" for word in NUMBER_WORDS),
    *("pin for ", "pin: 12", "a=b password=", "?password=", "password   ", "\npassword=a\n"),
    *("key: 'a1", "--password 'a ", "psk='a b ", "password a.b(", "password is aB.c!"),
    *(f"{command} {option} " for option, command in _commands()),
    *(f"{command} {option}a:b " for option, command in _commands()),
}
_SHORT = 30_000
_SHORTER = 2_000
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


def _costs(unit: str) -> list[float]:
    """Processor time of texts of four sizes, each twice the one before."""
    costs = []
    for size in (1, 2, 4, 8):
        text = unit * (_SHORTER * size // len(unit))
        start = time.process_time()
        redact(text)
        costs.append(time.process_time() - start)
    return costs


@pytest.mark.parametrize("part", range(4))
def test_every_finder_is_linear_in_what_it_looks_for(part: int) -> None:
    """Linear growth over the four sizes gives 8, quadratic growth 64."""
    slow = {}
    for unit in sorted(FOUND)[part::4]:
        for _ in range(3):
            costs = _costs(unit)
            if costs[-1] < 24 * max(costs[0], 0.002):
                break
        else:
            slow[unit] = costs
    assert slow == {}
