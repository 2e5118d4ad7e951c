"""What another project's rules find and Holdfast does not, on a text made from each pattern.

    python -m benchmarks.secrets.second_opinion

The rules are those of kingfisher-bin (Apache-2.0, a development dependency): its command prints
them with their patterns. What it finds and we do not has a reason in `REASONS`, or is a failure.
Owns: making a text from a pattern, and the reasons. Must not: import a rule into the product.
"""

import json
import random
import re
import shutil
import string
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.secrets.secret_kinds import list_kinds
from holdfast.redact import redact
from holdfast.redact.secret_patterns import VENDOR

# re's own parser: the only one there is for its patterns; `re.sre_parse` before Python 3.11.
sre: Any = __import__("re")._parser

SEED = 20261118
TRIES = 40
_LETTERS = string.ascii_letters + string.digits
# How these rules say "a name goes on" and "is set to".
_GOES_ON = r"(?:[ \t\w.-]{0,20})"
_ASSIGNED = r"(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)"
_AROUND = (r"""[\s'"]{0,3}""", r"""[\x60'"\s=]{0,5}""")
_ENDS = (r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)""", r"""(?:[\x60'"\s;]|\\[nr]|$|\b)""")
_TAILS = (
    *("client-secret", "secret-key", "api-key", "access-key", "api-token", "access-token"),
    *("auth-token", "app-key", "secret", "token", "password", "key"),
)

# Rules that find what we leave, and why; docs/redaction.md has the same reasons.
_NO_SECRET = """
artifactory-jfrog-url auth0-domain salesforce-instance-url snowflake-account-host
upstash-redis-rest-url supabase-project-url tableau-server-host packagistorgreadtoken-repository
asana-client-id packagistorgupdatetoken-repository azure-tenant-id canva-client-id
clickhouse-cloud-key-id ebay-client-id cloudflare-account-id cloudinary-cloud-name
discord-client-id alibaba-sts-access-key-id lark-app-id langfuse-public-key miro-client-id
mongodb-atlas-service-account-id mux-access-token-id planetscale-id plaid-client-id plivo-auth-id
posthog-project-api-key hcpclientcredentials-client-id razorpay-key-id flutterwave-public-key
razorpay-key.rzp_live_
"""
_NO_SIGN = """
brave-search-api-key
alibaba-secret-key alibaba-sts-security-token amplitude-secret-key aws-secret-access-key
fal-api-key clickhouse-cloud-api-secret-key endorlabs-api-key endorlabs-api-secret
exoscale-api-key gitea-access-token maxmind-license-key plaid-secret-key salesforce-access-token
tableau-personal-access-token vault-service-token wakatime-api-key ebay-client-secret
midtrans-production-server-client-key authress-service-client-access-key
artifactory-reference-token canva-client-secret gitlab-rrt configcat-sdk-key-extended
facebook-access-token flyio-access-token gitlab-session-cookie airtable-personnal-access-token
aiven-auth-token jwt-base64 miro-access-token grafana-api-key polymarket-private-key
polymarket-api-key mux-access-token-secret bitly-access-token defined-networking-api-token
azure-app-configuration-connection-string
"""
_SHORT = """
facebook-page-access-token
devcycle-client-sdk-key devcycle-mobile-sdk-key devcycle-server-sdk-key flutterwave-encryption-key
lichess-personal-access-token slack-app-token slack-legacy-token slack-legacy-workspace-token
square-access-token stripe-access-token
"""
_MADE_BADLY = """
bitbucket-data-center-token cloudinary-api-key cloudinary-api-secret couchbase-capella-api-key
gcp-application-default-credentials gcp-service-account generic-credential-uri influxdb-api-token
jwt kubernetes-secret-yaml mongodb-connection-string private-key slack-webhook-url
slack-config-access-token bitwardenoauth2access codecommitcredentials azure-secret.Q~
azure-ad-client-secret terraform-token..atlasv1. telegram-token.:AA
"""
REASONS = {
    "an identifier, an address or a public key": _NO_SECRET.split(),
    "no prefix of its own, and no name that says secret": _NO_SIGN.split(),
    "shorter than a real one: too few signs behind its prefix": _SHORT.split(),
    "a loose rule: the text made from it is no such secret": _MADE_BADLY.split(),
}


@dataclass(frozen=True)
class Opinion:
    kind: str
    text: str
    secret: str


def read_rules() -> list[dict[str, str]]:
    command = shutil.which("kingfisher", path=str(Path(sys.executable).parent))
    if command is None:
        raise SystemExit("kingfisher is not installed: pip install kingfisher-bin")
    with tempfile.TemporaryDirectory() as home:
        listed = subprocess.run(
            [command, "rules", "list", "--format", "json", "--no-update-check"],
            env={"HOME": home, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=True,
            timeout=60,
        )
    rules: list[dict[str, str]] = json.loads(listed.stdout)
    return rules


def opinions(rules: Sequence[dict[str, str]], seed: int = SEED) -> Iterator[Opinion]:
    """A text for each rule, each vendor's shape of ours, and each kind of the benchmark."""
    for rule in rules:
        # A text for a rule is the same whatever rules stand before it.
        made = _text_for(rule["id"], rule["pattern"], random.Random(f"{seed} {rule['id']}"))
        if made is not None:
            yield made
    rng = random.Random(seed)
    for label, anchor, tail in VENDOR:
        made = _text_for(f"ours.{label}.{anchor}", f"{re.escape(anchor)}{tail}", rng)
        if made is not None and made.secret.startswith(anchor):
            yield made
    for kind in list_kinds():
        planted = kind.make(rng)
        yield Opinion(f"benchmark.{kind.name}", planted.text, planted.parts[0])


def _text_for(kind: str, pattern: str, rng: random.Random) -> Opinion | None:
    """The rule's own text where it asks for a name, and the bare secret in a sentence where not."""
    try:
        parsed = sre.parse(_realistic(kind, pattern))
        checked = re.compile(_flags_first(pattern))
    except (re.error, OverflowError):
        return None
    for _ in range(TRIES):
        groups: dict[int, str] = {}
        text = f"  {_write(parsed, groups, rng)}\n"
        found = checked.search(text)
        if found is None:
            continue
        secret = next((group for group in found.groups() if group), found.group()).strip()
        if len(secret) >= 8 and len(set(secret)) > 6:
            return Opinion(kind, text, secret)
    return None


def _flags_first(pattern: str) -> str:
    """Rust takes `(?i)` anywhere; here it must stand in front, or around what follows."""
    before, sign, behind = pattern.partition("(?i)")
    if not sign:
        return pattern
    depth = before.count("(") - before.count("\\(") - before.count(")") + before.count("\\)")
    if depth <= 0 or not before:
        return f"(?i){before}{_without_flags(behind)}"
    return f"(?i){before}{_without_flags(behind)}"


def _without_flags(pattern: str) -> str:
    return pattern.replace("(?i)", "")


def _realistic(kind: str, pattern: str) -> str:
    """The same rule with a name that goes on as the rule is called, and with `: "` or `=`."""
    rule = kind.rpartition(".")[0] if kind[-1].isdigit() else kind
    tail = next((tail for tail in _TAILS if rule.endswith(tail)), "api-key").replace("-", "_")
    named = pattern.replace(_GOES_ON, "" if _names_itself(pattern) else f"_{tail}")
    for around in _AROUND:
        named = named.replace(around, "")
    named = named.replace(_ASSIGNED, "=")
    for end in _ENDS:
        named = named.replace(end, r"\n")
    return _flags_first(named)


def _names_itself(pattern: str) -> bool:
    name = pattern.partition(_GOES_ON)[0].lower()
    return any(word in name for word in ("key", "token", "secret", "pass", "id)"))


def _write(parsed: Any, groups: dict[int, str], rng: random.Random) -> str:
    return "".join(_write_one(str(op), argument, groups, rng) for op, argument in parsed)


def _write_one(op: str, argument: Any, groups: dict[int, str], rng: random.Random) -> str:
    if op == "LITERAL":
        return chr(argument)
    if op == "NOT_LITERAL" or op == "ANY":
        return rng.choice([letter for letter in _LETTERS if ord(letter) != argument])
    if op == "IN":
        return rng.choice(_members(argument))
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, what = argument
        count = rng.randint(least, min(int(most), least + 4, max(least, 400)))
        return "".join(_write(what, groups, rng) for _ in range(count))
    if op == "SUBPATTERN":
        groups[argument[0]] = written = _write(argument[3], groups, rng)
        return written
    if op == "BRANCH":
        return _write(rng.choice(argument[1]), groups, rng)
    if op == "ATOMIC_GROUP":
        return _write(argument, groups, rng)
    if op == "GROUPREF":
        return groups.get(argument, "")
    return ""  # an assertion writes nothing; whether it holds is seen by the search


def _members(argument: Any) -> str:
    letters = set[str]()
    for op, value in argument:
        if str(op) == "LITERAL":
            letters.add(chr(value))
        elif str(op) == "RANGE":
            letters |= {chr(code) for code in range(value[0], min(value[1], 126) + 1)}
        elif str(op) == "CATEGORY":
            name = str(value)
            letters |= set(" ") if "SPACE" in name else set(string.digits)
            letters |= set(_LETTERS) if "WORD" in name else set()
    if str(argument[0][0]) == "NEGATE":
        return "".join(sorted(set(_LETTERS) - letters)) or "a"
    return "".join(sorted(letters))


def missed(found: Sequence[Opinion]) -> Iterator[Opinion]:
    for one in found:
        if one.secret in redact(one.text):
            yield one


def reason_for(kind: str) -> str | None:
    rule = re.sub(r"\A(?:betterleaks\.|veles\.secrets/|ours\.)|\.\d\Z", "", kind)
    return next((reason for reason, kinds in REASONS.items() if rule in kinds), None)


def main() -> int:
    all_kinds = list(opinions(read_rules()))
    left = list(missed(all_kinds))
    reasons = Counter(reason_for(one.kind) or "FAILURE" for one in left)
    print(f"{len(all_kinds)} kinds, {len(left)} not found: {dict(reasons)}")
    for one in left:
        if reason_for(one.kind) is None:
            print(f"  {one.kind}: {one.text.strip()[:160]!r}")
    return 1 if reasons["FAILURE"] else 0


if __name__ == "__main__":
    sys.exit(main())
