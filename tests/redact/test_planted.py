"""Planted secrets: made from seeded random at run time, in the places where sessions carry them."""

import json
import random
from collections.abc import Iterator

import pytest

from benchmarks.secrets.secret_kinds import list_kinds
from holdfast.redact import redact, redact_bytes

from .planted import (
    BY_NAME,
    BY_SHAPE,
    CARRIERS,
    NAMED_CARRIERS,
    PEM_CARRIERS,
    PEM_KINDS,
    private_key,
    special_cases,
)

pytestmark = pytest.mark.slow

SEEDS = range(4)
RECALL = 0.99

# kind, carrier, text, the parts of the secret that must not be seen again
Case = tuple[str, str, str, list[str]]


def _parts(secret: str) -> list[str]:
    """A secret is not gone while its tail stands: half a key narrows the rest down."""
    return [secret, secret[-14:]] if len(secret) > 20 else [secret]


def planted_cases(seed: int) -> Iterator[Case]:
    rng = random.Random(seed)
    for kind, recipe in BY_SHAPE.items():
        for carrier, around in CARRIERS.items():
            secret = recipe(rng)
            yield kind, carrier, around(secret), _parts(secret)
    for kind, (name, recipe) in BY_NAME.items():
        for carrier, named in NAMED_CARRIERS.items():
            secret = recipe(rng)
            yield kind, carrier, named(name, secret), _parts(secret)
    for kind in PEM_KINDS:
        for carrier, around in PEM_CARRIERS.items():
            secret = private_key(rng, kind)
            text = around(secret)
            lines = [line for line in secret.split("\n")[1:-2] if line in text]
            yield kind, carrier, text, lines
    for carrier, text, secret in special_cases(rng):
        yield "special", carrier, text, _parts(secret)


def _leaks(text: str, parts: list[str]) -> bool:
    return any(part in text for part in parts)


def test_the_suite_has_enough_kinds_and_every_case_holds_its_secret() -> None:
    cases = list(planted_cases(0))
    assert len({kind for kind, _, _, _ in cases}) >= 80
    assert all(parts and _leaks(text, parts) for _, _, text, parts in cases)


@pytest.mark.parametrize("seed", SEEDS)
def test_planted_secrets_are_removed_from_text(seed: int) -> None:
    cases = list(planted_cases(seed))
    missed = [(k, c, text) for k, c, text, parts in cases if _leaks(redact(text), parts)]
    recall = 1 - len(missed) / len(cases)
    assert recall >= RECALL, missed


@pytest.mark.parametrize("seed", SEEDS)
def test_planted_secrets_are_removed_from_rows_as_from_text(seed: int) -> None:
    cases = list(planted_cases(seed))
    rows = [{"type": "user", "é": "\n", "text": text} for _, _, text, _ in cases]
    data = b"".join(
        json.dumps(row, ensure_ascii=n % 2 == 0).encode() + b"\n" for n, row in enumerate(rows)
    )
    redacted = [json.loads(line) for line in redact_bytes(data).splitlines()]
    assert redacted == [{**row, "text": redact(row["text"])} for row in rows]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_second_pass_changes_nothing(seed: int) -> None:
    for _, _, text, _ in planted_cases(seed):
        once = redact(text)
        assert redact(once) == once


@pytest.mark.parametrize("seed", SEEDS)
def test_every_kind_of_the_benchmark_is_removed(seed: int) -> None:
    rng = random.Random(seed)
    planted = [(kind.name, kind.make(rng)) for kind in list_kinds()]
    missed = [(name, one.text) for name, one in planted if _leaks(redact(one.text), [*one.parts])]
    assert missed == []


def test_a_private_key_in_a_diff_has_no_line_left() -> None:
    key = private_key(random.Random(2), PEM_KINDS[3]).split("\n")
    lines = [" # key", *("+" + line for line in key)]
    part = [*(" " + line for line in key[4:7]), "-" + key[7], "+x"]
    patch = [{"oldStart": 1, "lines": lines}, {"oldStart": 9, "lines": part}]
    row = {"toolUseResult": {"originalFile": "\n".join(key), "structuredPatch": patch}}
    clean = json.loads(redact_bytes(json.dumps(row).encode()))
    shown = json.dumps(clean)
    assert not [line for line in key[1:-1] if line in shown]
    assert [len(one["lines"]) for one in clean["toolUseResult"]["structuredPatch"]] == [
        len(lines),
        len(part),
    ]


@pytest.mark.parametrize(
    "password", ["c0rrect-" + "h0rse-9182", "p4ss" + "word11", "x1.y2" + ".z3-w4"]
)
def test_letters_turned_into_digits_do_not_make_a_technical_word(password: str) -> None:
    told = f"The database password is {password}, never print it."
    assert redact(told) == "The database password is [redacted:password], never print it."


def test_only_the_secret_changes() -> None:
    rng = random.Random(7)
    token = BY_SHAPE["github classic"](rng)
    assert redact(f"a\t{token}\r\nü b") == "a\t[redacted:github-token]\r\nü b"
    password = "Zq" + BY_NAME["passphrase"][1](rng)
    assert (
        redact(f"postgres://app:{password}@db.acme.dev:5432/app")
        == "postgres://app:[redacted:url-password]@db.acme.dev:5432/app"
    )
    assert redact(f"DB_PASSWORD={password}\nX=1") == "DB_PASSWORD=[redacted:password]\nX=1"


def test_a_member_of_a_row_is_judged_by_its_name() -> None:
    value = "Zq" + BY_NAME["passphrase"][1](random.Random(3))
    row = {"input": {"user": "app", "password": value, "port": 5432}}
    redacted = json.loads(redact_bytes(json.dumps(row).encode()))
    assert redacted == {"input": {"user": "app", "password": "[redacted:password]", "port": 5432}}


@pytest.mark.parametrize(
    "around",
    [
        ["max_token", "token={}"],  # the name before it takes nothing from the next text
        ["curl example.com", "curl -s -u bob:{} example.com"],
        ["mysql", "mysql -p{}"],
        ['API_TOKEN = f"{}"'],
        ['password="Zq\'{}"'],
        ["password='Zq\\'{}'"],
        ["identified by\r\n'{}'"],
        ["bearer \n {}"],
        ["bearer ", "bearer {}"],
    ],
    ids=str,
)
def test_a_row_gives_up_what_its_texts_give_up(around: list[str]) -> None:
    secret = "a1" + BY_NAME["passphrase"][1](random.Random(9))
    texts = [text.replace("{}", secret) for text in around]
    assert secret not in "".join(map(redact, texts))
    assert json.loads(redact_bytes(json.dumps(texts).encode())) == [redact(t) for t in texts]


def test_a_key_that_spans_lines_of_plain_text_goes_whole() -> None:
    secret = private_key(random.Random(5), PEM_KINDS[1])
    data = f'{{"a": 1}}\nplain\n{secret}\nmore\n{{"b": 2}}\n'.encode()
    assert redact_bytes(data) == b'{"a": 1}\nplain\n[redacted:private-key]\nmore\n{"b": 2}\n'


def test_a_row_cut_off_in_the_middle_is_redacted_too() -> None:
    token = BY_SHAPE["anthropic"](random.Random(6))
    data = f'{{"a": 1}}\n{{"text": "first\\n{token}'.encode()
    assert redact_bytes(data) == b'{"a": 1}\n{"text": "first\\n[redacted:anthropic-key]'


def test_escapes_around_a_secret_stay_as_they_were_written() -> None:
    token = BY_SHAPE["npm"](random.Random(8))
    data = ('{"t":"\\u00e9\\/ \\ud83d\\ude00 \\"' + token + '\\" \\t é"}\n').encode()
    expected = '{"t":"\\u00e9\\/ \\ud83d\\ude00 \\"[redacted:npm-token]\\" \\t é"}\n'.encode()
    assert redact_bytes(data) == expected


@pytest.mark.parametrize("sign", [*".([{@#!-_"])
@pytest.mark.parametrize(
    "around",
    [
        "DB_PASSWORD={}",
        "docker run -e DB_PASSWORD={} pg",
        "tool --password={} x",
        "the db password is {} ok",
        '"password": "{}"',
        "db:\n  user: bob\n  password: {}\n  port: 5",
        "create user a identified by '{}';",
        "curl -u bob:{} acme.dev",
        "das Kennwort lautet {}",
        "la contraseña es {}",
        "пароль: {}",
        "密码是 {}",
        "sqlplus app/{}@db",
        "xfreerdp /u:bob /p:{} /v:h",
        "echo {} | kinit bob",
        "page.locator('#password').fill('{}')",
        "auth = ('bob', '{}')",
    ],
)
def test_a_sign_in_a_password_does_not_make_it_code(around: str, sign: str) -> None:
    secret = f"Copper7{sign}tigerLamp42x"
    if sign == "@" and "@db" in around:
        return  # ends the password there
    text = around.replace("{}", secret)
    assert secret not in redact(text)
    for ascii_only in (True, False):
        row = json.dumps({"text": text}, ensure_ascii=ascii_only).encode()
        assert secret.encode() not in redact_bytes(row)


def test_words_as_a_password_in_a_file_of_settings() -> None:
    text = "db:\n  user: bob\n  password: velvetHarborTiger\n  port: 5\n"
    assert "velvet" not in redact(text)


@pytest.mark.parametrize(
    "around",
    [
        "read -s PASS <<< '{}'",
        "echo '{}' > /run/secrets/db_password",
        'network={{\n  psk="{}"\n}}',
        "[db]\nuser = bob\npass = {}\n",
        "smtp.login('bob', '{}')",
        "driver.findElement(By.id(\"password\")).sendKeys('{}')",
        "page.fill('#password', '{}')",
        "net user bob {} /add",
        "setup.exe /password={}",
        "When it asks for the sudo password, type {} and go on",
        "la contraseña de la base es {}",
        "le mot de passe de la base est {}",
        "identifiants : bob / {}",
        "adgangskode: {}",
        "ENV['DB_PASSWORD'] ||= '{}'",
    ],
)
def test_ways_to_hand_over_a_password(around: str) -> None:
    text = around.format("Harbor-Lantern42x")
    assert "Lantern42" not in redact(text)
    row = json.dumps({"id": "0a1b2c3d4e5f60718293a4b5c6d7ffcf", "text": text}).encode()
    assert b"Lantern42" not in redact_bytes(row)


def test_a_command_is_found_behind_an_id_that_ends_like_another_command() -> None:
    text = "docker login -u bob -p lantern" + "2577x registry.acme.dev"
    row = json.dumps({"id": "toolu_b600056ea3034ad08ba9ffcf", "text": text}).encode()
    assert b"2577x" not in redact_bytes(row)
