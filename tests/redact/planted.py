"""Makes secrets at run time, so that no token-shaped literal is stored in the repository.

Every kind is a recipe: a prefix, joined from halves, and seeded random letters. A carrier is a text
around a secret, as it occurs in a session.
"""

import base64
import json
import random
import string
from collections.abc import Callable

Recipe = Callable[[random.Random], str]
Carrier = Callable[[str], str]

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_URLSAFE = _ALNUM + "_-"
_BASE64 = _ALNUM + "+/"
_UPPER = string.ascii_uppercase + string.digits


def _pick(letters: str, count: int) -> Recipe:
    return lambda rng: "".join(rng.choice(letters) for _ in range(count))


def _after(*prefix: str, letters: str = _ALNUM, count: int) -> Recipe:
    body = _pick(letters, count)
    return lambda rng: "".join(prefix) + body(rng)


def _join(*parts: str | Recipe) -> Recipe:
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def _web_token(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    body = part({"sub": str(rng.randrange(10**9)), "iat": rng.randrange(10**9)})
    return f"{head}.{body}.{_pick(_URLSAFE, 43)(rng)}"


def _discord(rng: random.Random) -> str:
    name = base64.b64encode(str(rng.randrange(10**17, 10**18)).encode()).decode()
    return f"{name}.{_pick(_ALNUM, 6)(rng)}.{_pick(_URLSAFE, 38)(rng)}"


def _uuid(rng: random.Random) -> str:
    return "-".join(_pick(_HEX, size)(rng) for size in (8, 4, 4, 4, 12))


# Recognised wherever they stand.
BY_SHAPE: dict[str, Recipe] = {
    "anthropic": _join("sk-", "ant-api03-", _pick(_URLSAFE, 93), "AA"),
    "openai project": _after("sk-", "proj-", letters=_URLSAFE, count=120),
    "openai service account": _after("sk-", "svcacct-", letters=_URLSAFE, count=120),
    "openai legacy": _join("sk-", _pick(_ALNUM, 20), "T3Blbk", "FJ", _pick(_ALNUM, 20)),
    "openrouter": _after("sk-", "or-v1-", letters=_HEX, count=64),
    "deepseek": _after("sk-", letters=_HEX, count=32),
    "groq": _after("gs", "k_", count=52),
    "xai": _after("xa", "i-", count=80),
    "perplexity": _after("pp", "lx-", count=48),
    "replicate": _after("r", "8_", count=37),
    "hugging face": _after("h", "f_", count=34),
    "github classic": _after("gh", "p_", count=36),
    "github oauth": _after("gh", "o_", count=36),
    "github server": _after("gh", "s_", count=36),
    "github user": _after("gh", "u_", count=36),
    "github refresh": _after("gh", "r_", count=76),
    "github fine-grained": _join("github_", "pat_", _pick(_ALNUM, 22), "_", _pick(_ALNUM, 59)),
    "gitlab": _after("gl", "pat-", letters=_URLSAFE, count=20),
    "slack bot": _join(
        "xo", "xb-", _pick(string.digits, 12), "-", _pick(string.digits, 12), "-", _pick(_ALNUM, 24)
    ),
    "slack user": _join("xo", "xp-", _pick(string.digits, 12), "-", _pick(_HEX, 32)),
    "slack app": _join("xa", "pp-1-A", _pick(_UPPER, 10), "-", _pick(_HEX, 64)),
    "stripe live": _after("sk_", "live_", count=24),
    "stripe restricted": _after("rk_", "live_", count=99),
    "stripe test": _after("sk_", "test_", count=24),
    "stripe webhook": _after("wh", "sec_", count=32),
    "google api": _after("AI", "za", letters=_URLSAFE, count=35),
    "google oauth": _after("ya", "29.", letters=_URLSAFE, count=160),
    "google client secret": _after("GOC", "SPX-", letters=_URLSAFE, count=28),
    "aws key id": _after("AK", "IA", letters="ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count=16),
    "aws temporary key id": _after(
        "AS", "IA", letters="ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count=16
    ),
    "azure client secret": _join(_pick(_ALNUM, 3), "8", "Q~", _pick(_URLSAFE, 34)),
    "npm": _after("np", "m_", count=36),
    "pypi": _after("py", "pi-AgEIcHlwaS5vcmc", letters=_URLSAFE, count=150),
    "sendgrid": _join("S", "G.", _pick(_URLSAFE, 22), ".", _pick(_URLSAFE, 43)),
    "twilio": _after("S", "K", letters=_HEX, count=32),
    "mailgun": _after("ke", "y-", letters=_HEX, count=32),
    "digitalocean": _after("do", "p_v1_", letters=_HEX, count=64),
    "databricks": _after("da", "pi", letters=_HEX, count=32),
    "linear": _after("lin", "_api_", count=40),
    "notion legacy": _after("sec", "ret_", count=43),
    "notion": _after("nt", "n_", count=46),
    "telegram": _join(_pick("123456789", 10), ":A", "A", _pick(_URLSAFE, 33)),
    "discord": _discord,
    "shopify": _after("shp", "at_", letters=_HEX, count=32),
    "heroku": _join("HR", "KU-", _uuid),
    "vault": _after("hv", "s.", letters=_URLSAFE, count=95),
    "docker": _after("dckr", "_pat_", letters=_URLSAFE, count=27),
    "doppler": _after("dp.", "pt.", count=43),
    "doppler service": _join("dp.", "st.prd.", _pick(_ALNUM, 43)),
    "gitlab feed": _after("gl", "ft-", letters=_URLSAFE, count=20),
    "fireworks": _after("f", "w_", count=24),
    "cerebras": _after("cs", "k-", letters=string.ascii_lowercase + string.digits, count=48),
    "nvidia": _after("nv", "api-", letters=_URLSAFE, count=64),
    "firecrawl": _after("f", "c-", letters=_HEX, count=32),
    "vercel": _after("vc", "p_", count=56),
    "clojars": _after("CLO", "JARS_", letters=_HEX, count=60),
    "plaid": _join("access-", "production-", _uuid),
    "hubspot": _join("pat-", "na1-", _uuid),
    "launchdarkly": _join("sd", "k-", _uuid),
    "dropbox": _after("s", "l.", letters=_URLSAFE, count=135),
    "shippo": _after("shippo_", "live_", letters=_HEX, count=40),
    "typeform": _after("tf", "p_", letters=_URLSAFE, count=59),
    "readme": _after("rd", "me_", letters=_HEX, count=70),
    "duffel": _after("duffel_", "live_", letters=_URLSAFE, count=43),
    "dynatrace": _join("dt0", "c01.", _pick(_UPPER, 24), ".", _pick(_UPPER, 64)),
    "frame.io": _after("fi", "o-u-", letters=_URLSAFE, count=64),
    "yandex": _after("y", "0_", letters=_URLSAFE, count=55),
    "prefect": _after("pn", "u_", count=36),
    "bitbucket": _after("AT", "BB", count=32),
    "jfrog": _after("AK", "Cp", count=69),
    "aws bedrock": _after("AB", "SK", letters=_BASE64, count=120),
    "firebase": _after("APA", "91b", letters=_URLSAFE, count=134),
    "facebook": _after("EA", "AC", count=180),
    "supabase": _after("sb", "p_", letters=_HEX, count=40),
    "sentry": _after("sntr", "yu_", letters=_HEX, count=64),
    "posthog": _after("ph", "x_", count=43),
    "fly": _after("fo", "1_", letters=_URLSAFE, count=43),
    "age": _after("AGE-", "SECRET-KEY-1", letters="QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", count=58),
    "terraform": _join(_pick(_ALNUM, 14), ".atlas", "v1.", _pick(_URLSAFE, 67)),
    "atlassian": _after("ATA", "TT3xFfGF0", letters=_URLSAFE, count=170),
    "figma": _after("fig", "d_", letters=_URLSAFE, count=40),
    "new relic": _after("NR", "AK-", letters=_UPPER, count=27),
    "postman": _join("PM", "AK-", _pick(_HEX, 24), "-", _pick(_HEX, 34)),
    "pulumi": _after("pu", "l-", letters=_HEX, count=40),
    "grafana": _join("gl", "sa_", _pick(_ALNUM, 32), "_", _pick(_HEX, 8)),
    "tailscale": _join("ts", "key-auth-", _pick(_ALNUM, 16), "-", _pick(_ALNUM, 32)),
    "web token": _web_token,
}

# Recognised by the name in front.
BY_NAME: dict[str, tuple[str, Recipe]] = {
    "aws secret key": ("AWS_SECRET_ACCESS_KEY", _pick(_BASE64, 40)),
    "heroku uuid": ("HEROKU_API_KEY", _uuid),
    "twilio auth token": ("TWILIO_AUTH_TOKEN", _pick(_HEX, 32)),
    "azure account key": ("AccountKey", _join(_pick(_BASE64, 86), "==")),
    "azure shared key": ("SharedAccessKey", _join(_pick(_BASE64, 43), "=")),
    "datadog": ("DD_API_KEY", _pick(_HEX, 32)),
    "client secret": ("client_secret", _pick(_URLSAFE, 40)),
    "django": ("SECRET_KEY", _pick(_ALNUM + "!@#%^*-_=+", 50)),
    "human password": (
        "DB_PASSWORD",
        _join(_pick(string.ascii_lowercase, 6), _pick("23456789", 2)),
    ),
    "strong password": ("password", _join("Q", _pick(_ALNUM + "!#%^*", 16), "7")),
    "passphrase": ("passphrase", _join(_pick(_ALNUM, 12), "9")),
    "refresh token": ("refresh_token", _pick(_URLSAFE, 48)),
    "cloudflare": ("CLOUDFLARE_API_TOKEN", _pick(_URLSAFE, 40)),
}

CARRIERS: dict[str, Carrier] = {
    "bare": lambda s: s,
    "shell command": lambda s: f"curl -H 'X-Key: {s}' https://api.acme.dev/v1/items | jq .",
    "escaped row": lambda s: json.dumps({"note": json.dumps({"out": f"line one\n{s}\nline two"})}),
    "url": lambda s: f"GET https://api.acme.dev/v1/items?limit=5&k={s}&page=2",
    "env file": lambda s: f"PORT=8080\nSERVICE_VALUE={s}\nDEBUG=1\n",
    "tool output": lambda s: f"  14\u2192    value: {s}\n  15\u2192    retries: 3\n",
    "log line": lambda s: f"2026-01-05T10:00:00Z INFO sent [{s}] to upstream (200)",
    "python": lambda s: f'client = Client("{s}", timeout=3)',
    "go": lambda s: f"\tcfg.Value = `{s}`\n",
    "typescript": lambda s: f"const value: string = '{s}';",
    "prose": lambda s: f"Please use {s}, it is the one from staging.",
    "coloured": lambda s: f"\x1b[32m{s}\x1b[0m ok",
    "escaped line break": lambda s: f'"first\\n{s}\\nlast"',
}

NAMED_CARRIERS: dict[str, Callable[[str, str], str]] = {
    "env file": lambda n, s: f"PORT=8080\n{n}={s}\nDEBUG=1\n",
    "export": lambda n, s: f'export {n}="{s}" && make deploy',
    "yaml": lambda n, s: f"service:\n  {n}: {s}\n  retries: 3\n",
    "quoted yaml": lambda n, s: f"  {n}: '{s}'\n",
    "json": lambda n, s: json.dumps({"host": "db", n: s, "port": 5432}),
    "escaped json": lambda n, s: json.dumps({"text": json.dumps({n: s})}),
    "python": lambda n, s: f'{n} = "{s}"  # from the vault',
    "typed python": lambda n, s: f'{n}: str = "{s}"',
    "go": lambda n, s: f'\tvar {n} string = "{s}"\n',
    "go short": lambda n, s: f'\t{n} := "{s}"\n',
    "typescript": lambda n, s: f"const {n}: string = '{s}';",
    "ruby hash": lambda n, s: f"{{ '{n}' => '{s}' }}",
    "option": lambda n, s: f"deploy --{n.lower().replace('_', '-')} {s} --force",
    "option with equals": lambda n, s: f"deploy --{n.lower().replace('_', '-')}={s} --force",
    "python environ": lambda n, s: f'os.environ["{n}"] = "{s}"',
    "docker": lambda n, s: f"docker run -e {n}={s} acme/app:1.2",
    "tool output": lambda n, s: f"     7\u2192{n}={s}\n     8\u2192DEBUG=1\n",
    "diff": lambda n, s: f"+{n}={s}\n-DEBUG=0\n",
    "connection string": lambda n, s: f"Endpoint=sb://x.acme.dev/;Name=root;{n}={s};Mode=1",
}


def private_key(rng: random.Random, kind: str) -> str:
    lines = "\n".join(_pick(_BASE64, 64)(rng) for _ in range(12))
    dashes = "-" * 5
    last = _pick(_BASE64, 22)(rng)
    return f"{dashes}BEGIN {kind}{dashes}\n{lines}\n{last}==\n{dashes}END {kind}{dashes}"


PEM_KINDS = tuple(
    f"{kind}PRIVATE KEY{block}"
    for kind, block in (
        ("", ""),
        ("RSA ", ""),
        ("EC ", ""),
        ("OPENSSH ", ""),
        ("ENCRYPTED ", ""),
        ("PGP ", " BLOCK"),
    )
)

PEM_CARRIERS: dict[str, Carrier] = {
    "bare": lambda s: s + "\n",
    "numbered": lambda s: "\n".join(
        f"{number:6}\u2192{line}" for number, line in enumerate(s.split("\n"), 1)
    ),
    "indented": lambda s: "key: |\n" + "\n".join("  " + line for line in s.split("\n")),
    "service account": lambda s: json.dumps({"type": "service_account", "private_key": s + "\n"}),
    "escaped row": lambda s: json.dumps({"text": json.dumps({"private_key": s})}),
    "cut off": lambda s: "\n".join(s.split("\n")[:6]) + "\n",
    "windows": lambda s: s.replace("\n", "\r\n"),
}


# (label of the case, text around, what must go)
def special_cases(rng: random.Random) -> list[tuple[str, str, str]]:
    password = "Zq" + _pick(_ALNUM, 9)(rng) + "7"
    simple = _pick(string.ascii_lowercase, 7)(rng) + "42"
    words = "summer" + "thunder" + _pick("123456789", 3)(rng)
    pair = base64.b64encode(f"deploy:{password}".encode()).decode()
    bearer = _pick(_URLSAFE, 40)(rng)
    signature = _pick(_ALNUM, 42)(rng) + "%3D"
    hook = f"T{_pick(_UPPER, 8)(rng)}/B{_pick(_UPPER, 8)(rng)}/{_pick(_ALNUM, 24)(rng)}"
    discord = f"{_pick('123456789', 18)(rng)}/{_pick(_URLSAFE, 68)(rng)}"
    aws = _pick(_BASE64, 38)(rng) + "a1"
    key_id = BY_SHAPE["aws key id"](rng)
    return [
        ("url", f"postgres://app:{password}@db.acme.dev:5432/app", password),
        ("url without user", f"redis://:{password}@cache:6379/0", password),
        ("url, plain word", f"amqp://svc:{simple}@mq.acme.dev/", simple),
        ("url with at sign", f"mysql://app:{password}@x@db.acme.dev/app", password),
        ("url in json", json.dumps({"u": f"https://bot:{password}@git.acme.dev/r.git"}), password),
        ("basic header", f"Authorization: Basic {pair}", pair),
        ("basic in curl", f"curl -H 'authorization: Basic {pair}' https://acme.dev", pair),
        ("docker auth", json.dumps({"auths": {"r.acme.dev": {"auth": pair}}}), pair),
        ("bearer header", f"Authorization: Bearer {bearer}", bearer),
        ("bearer in code", f'headers = {{"Authorization": "Bearer {bearer}"}}', bearer),
        ("token header", f"PRIVATE-TOKEN: {bearer}", bearer),
        ("api key header", f"-H 'X-Api-Key: {bearer}'", bearer),
        ("sas link", f"https://x.blob.core.windows.net/c?sv=2022&sig={signature}&se=1", signature),
        ("slack webhook", f"https://hooks.slack.com/services/{hook}", hook),
        ("discord webhook", f"https://discord.com/api/webhooks/{discord}", discord),
        ("curl user first", f"curl -u admin:{password} https://acme.dev", password),
        ("curl --user", f"curl --user=admin:{password} https://acme.dev", password),
        ("curl user", f"curl -s -u admin:{password} https://acme.dev", password),
        ("mysql", f"mysql -h db -u root -p{password} app", password),
        ("mysql, quoted", f"mysql -h db -uroot -p'{password}' app", password),
        ("sshpass", f"sshpass -p {password} ssh root@acme.dev", password),
        ("sql", f"ALTER USER app WITH PASSWORD '{password}';", password),
        ("identified by", f"CREATE USER app IDENTIFIED BY '{password}';", password),
        ("netrc", f"machine acme.dev login app password {password}", password),
        ("xml", f"<server><password>{password}</password></server>", password),
        ("prose", f"the db password is {password}, keep it", password),
        ("aws pair", f"{key_id},{aws}", aws),
        ("properties", f"spring.datasource.password={password}", password),
        ("ini", f"[client]\npassword = {password}\n", password),
        ("ini in a diff", f"x\n DB_PASSWORD = {words}\n-x", words),
        ("ini in a listing", f"    12→DB_PASSWORD = {words}\n    13→y", words),
        ("query", f"https://acme.dev/cb?access_token={bearer}&state=1", bearer),
        ("setter", f'client.setPassword("{password}")', password),
        ("pair in code", f'os.environ.setdefault("API_KEY", "{bearer}")', bearer),
        ("npmrc", f"//registry.acme.dev/:_authToken={bearer}", bearer),
    ]
