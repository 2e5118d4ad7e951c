"""What is planted: a text as it stands in a session, and what of it must not be seen again.

Owns: the recipes. Those that the redactor's own tests use are taken from there.
"""

import base64
import json
import random
import string
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from redact import planted as known

WORDS = (
    "winter summer bluebird maple granite otter falcon cobalt meadow thunder pepper violet copper"
    " lantern harbor"
).split()
_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_DJANGO = "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"


class Planted(NamedTuple):
    text: str
    parts: tuple[str, ...]  # none of which may be seen again


class Kind(NamedTuple):
    name: str
    make: Callable[[random.Random], Planted]
    bare: bool  # known by its shape alone, wherever it stands


def pick_chars(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choice(letters) for _ in range(count))


def make_password(rng: random.Random) -> str:
    """As people make them up."""
    one, other, number = rng.choice(WORDS), rng.choice(WORDS), rng.randrange(10, 9999)
    forms = (
        f"{one}_{other}{number}",
        f"{one.title()}{other.title()}{number}!",
        f"{one}{other}{number}",
        f"{one.title()}#{number}{other}",
        f"{one.title()}&{other}{number}",
        f"Zq{pick_chars(rng, _ALNUM, 9)}{number}",
    )
    return rng.choice(forms)


def _parts(secret: str) -> tuple[str, ...]:
    return (secret, secret[-14:]) if len(secret) > 20 else (secret.rstrip("!"),)


# {} is the password
SENTENCES = {
    "docker login": "docker login -u bob -p {} registry.acme.dev",
    "docker login, quoted": "docker login -u bob -p '{}'",
    "podman login": "podman login -p {} -u bob quay.io",
    "az login": "az login --service-principal -u 1234 -p {} --tenant t",
    "redis-cli": "redis-cli -h db -a {} ping",
    "ldapsearch": "ldapsearch -x -D cn=admin -w {} -b dc=x",
    "smbclient": "smbclient //h/share -U bob%{}",
    "zip": "zip -r -P {} out.zip src",
    "unzip": "unzip -P {} a.zip",
    "openssl -passin": "openssl rsa -in k.pem -passin pass:{} -out o",
    "openssl -pass": "openssl enc -aes-256-cbc -pass pass:{}",
    "http --auth": "http --auth bob:{} GET acme.dev",
    "http -a": "http -a bob:{} acme.dev",
    "mongosh": "mongosh -u root -p {} --host h",
    "7z": "7z x -p{} a.7z",
    "lftp": "lftp -u bob,{} sftp://h",
    "sqlcmd": "sqlcmd -S h -U sa -P {} -Q 'select 1'",
    "htpasswd": "htpasswd -b .htpasswd bob {}",
    "rabbitmqctl": "rabbitmqctl add_user bob {}",
    "password on stdin": "echo {} | docker login --password-stdin -u bob",
    "sudo on stdin": "echo '{}' | sudo -S apt update",
    "chpasswd": 'echo "bob:{}" | chpasswd',
    "keytool": "keytool -list -keystore a.jks -storepass {}",
    "ssh-keygen": "ssh-keygen -t rsa -N {} -f k",
    "skopeo": "skopeo copy --src-creds bob:{} docker://a",
    "gpg": "gpg --batch --passphrase {} -c f",
    "curl proxy": "curl --proxy-user bob:{} http://acme.dev",
    "kubectl": "kubectl create secret generic a --from-literal=password={}",
    "ansible": "ansible-playbook a.yml -e ansible_become_pass={}",
    "environment of a command": "PGPASSWORD='{}' psql -h db",
    "twine": "twine upload -u bob -p {} dist/*",
    "cmdkey": "cmdkey /add:srv /user:bob /pass:{}",
    "oracle url": "jdbc:oracle:thin:app/{}@db:1521/x",
    "requirepass": "requirepass {}",
    "secure string": "$Password = ConvertTo-SecureString '{}' -AsPlainText -Force",
    "set password for": "SET PASSWORD FOR 'bob'@'%' = '{}';",
    "login of a server": "CREATE LOGIN bob WITH PASSWORD = N'{}';",
    "key vault": "az keyvault secret set --vault-name v --name n --value {}",
    "parameter store": "aws ssm put-parameter --name /db/p --value {} --type SecureString",
    "basic auth in code": "requests.get(url, auth=('bob', '{}'))",
    "basic auth object": 'HTTPBasicAuth("bob", "{}")',
    "default in code": "process.env.DB_PASSWORD || '{}'",
    "default of a call": "os.getenv('DB_PASSWORD', '{}')",
    "default of a field": "password: str = Field(default='{}')",
    "name and value": "- name: DB_PASSWORD\n  value: {}\n",
    "name and value, json": '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "property list": "<key>password</key>\n<string>{}</string>",
    "form": '<input type="password" value="{}">',
    "full-width colon": "password：{}",
    "no-break space": "DB_PASSWORD\u00a0=\u00a0{}",
    "German": "das Passwort ist {}",
    "French": "le mot de passe : {}",
    "Italian": "la password è {}",
    "password for it": "the password for the db is {}",
    "set the password": "Please set the root password to {} and restart",
    "the password was": "the root password was {}",
    "next line": "password:\n{}\n",
    "next line, deeper": "db:\n  password:\n    {}\n",
    "use pw": "use pw {} for staging",
    "pw colon": "pw: {}",
    "admin slash": "log in with admin / {} please",
    "creds": "creds: bob / {}",
    "admin colon": "the login is admin:{}",
    "as the password": "use {} as the password",
    "is the password": "{} is the db password",
    "with password": "log in as bob with password {}",
    "markdown": "- **Password**: `{}`",
    "password for user": "Password for user bob: {}",
    "env line": "DB_PASSWORD={}",
    "yaml": "db:\n  password: {}\n  port: 5432",
    "yaml pass": "smtp:\n  host: h\n  pass: {}\n",
    "toml": '[db]\npassword = "{}"',
    "libpq": "host=db user=app password={} dbname=a",
    "python": 'DB_PASSWORD = "{}"',
    "json": '{{"user": "a", "password": "{}"}}',
    "encoded": "DB_PASSWORD%3D{}",
    "encoded query": "a=1%26password%3D{}%26b%3D2",
    "pgpass": "db.acme.dev:5432:app:bob:{}",
    "pgpass, any": "*:*:*:postgres:{}\n",
    "coloured": "\x1b[32mDB_PASSWORD={}\x1b[0m",
    "coloured in pieces": "\x1b[32mDB_PASSWORD\x1b[0m=\x1b[1m{}\x1b[0m",
    "coloured yaml": "\x1b[1;31mpassword\x1b[0m: \x1b[33m{}\x1b[0m ok",
    "linked": "\x1b]8;;https://bob:{}@acme.dev\x07link\x1b]8;;\x07",
}


def _told(template: str) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        secret = make_password(rng)
        return Planted(template.format(secret), _parts(secret))

    return make


def _shaped(recipe: known.Recipe) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        secret = recipe(rng)
        return Planted(rng.choice(list(known.CARRIERS.values()))(secret), _parts(secret))

    return make


def _named(name: str, recipe: known.Recipe) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        secret = recipe(rng)
        around = rng.choice(list(known.NAMED_CARRIERS.values()))
        return Planted(around(name, secret), _parts(secret))

    return make


def _key(kind: str) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        secret = known.private_key(rng, kind)
        text = rng.choice(list(known.PEM_CARRIERS.values()))(secret)
        return Planted(text, tuple(line for line in secret.split("\n")[1:-2] if line in text))

    return make


def _special(label: str) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        return next(
            Planted(text, _parts(secret))
            for name, text, secret in known.special_cases(rng)
            if name == label
        )

    return make


def _around(
    recipe: Callable[[random.Random], str], *forms: str
) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        secret = recipe(rng)
        return Planted(rng.choice(forms).replace("{}", secret), _parts(secret))

    return make


def _putty(rng: random.Random) -> Planted:
    lines = tuple(pick_chars(rng, _ALNUM + "+/", 64) for _ in range(4))
    text = (
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAA\n"
        f"Private-Lines: 4\n{chr(10).join(lines)}\nPrivate-MAC: {pick_chars(rng, _HEX, 40)}\n"
    )
    return Planted(text, lines)


def _web_key(rng: random.Random) -> Planted:
    secret = pick_chars(rng, _ALNUM + "-_", 43)
    public = pick_chars(rng, _ALNUM + "-_", 43)
    members = [("kty", "EC"), ("crv", "P-256"), ("x", public), ("d", secret)]
    rng.shuffle(members)
    return Planted(json.dumps(dict(members), indent=rng.choice((None, 2))), _parts(secret))


def _basic(rng: random.Random) -> str:
    return base64.b64encode(f"bob:{make_password(rng)}".encode()).decode()


def _manifest(rng: random.Random) -> Planted:
    secret = base64.b64encode(f"postgres://a:{make_password(rng)}@h".encode()).decode()
    head, data = "kind: Secret\n", f"data:\n  db-url: {secret}\n"
    text = f"apiVersion: v1\n{rng.choice((head + data, data + head))}"
    return Planted(text, _parts(secret))


def _seed_phrase(rng: random.Random) -> Planted:
    words = [pick_chars(rng, string.ascii_lowercase, rng.randrange(4, 8)) for _ in range(12)]
    name = rng.choice(('MNEMONIC="{}"', "the seed phrase is: {}", "mnemonic: {}"))
    return Planted(name.format(" ".join(words)), (" ".join(words[3:9]),))


_OTHERS: dict[str, Callable[[random.Random], Planted]] = {
    "manifest": _manifest,
    "seed phrase": _seed_phrase,
    "set without a sign": _around(
        lambda rng: "k7" + pick_chars(rng, _ALNUM, 30),
        "ENV API_KEY {}",
        "setenv API_KEY {}",
        "setx API_KEY {}",
        "set -gx API_KEY {}",
        "aws configure set aws_secret_access_key {}",
        "npm config set //registry.acme.dev/:_authToken {}",
    ),
    "told key": _around(
        lambda rng: "k7" + pick_chars(rng, _ALNUM, 30),
        "the API key is {}",
        "my secret key: {}",
    ),
    "token on the next line": _around(
        lambda rng: "k7" + pick_chars(rng, _ALNUM, 38),
        "token: >-\n  {}\n",
        '{"clientSecret":\n  "{}"\n}',
    ),
    "personal access token": _around(
        lambda rng: "7k" + pick_chars(rng, string.ascii_lowercase + "234567", 50),
        "AZURE_DEVOPS_EXT_PAT={}",
        'export ACME_PAT="{}"',
    ),
    "cell of a table": _around(
        lambda rng: "k7" + pick_chars(rng, _ALNUM, 12) + "42", "| DB_PASSWORD | {} |"
    ),
    "key of an element": _around(
        lambda rng: "k7" + pick_chars(rng, _ALNUM, 30), '<add key="ApiKey" value="{}" />'
    ),
    "piped token": _around(
        lambda rng: pick_chars(rng, _HEX, 40),
        "echo {} | gh auth login --with-token",
        "echo {} | wrangler secret put API",
    ),
    "secret of a repository": _around(
        lambda rng: "k7" + pick_chars(rng, _ALNUM, 30), "gh secret set API_KEY --body {}"
    ),
    "presigned link": _around(
        lambda rng: pick_chars(rng, _HEX, 64),
        "https://b.s3.amazonaws.com/a?X-Amz-Date=1&X-Amz-Signature={}",
    ),
    "office webhook": _around(
        lambda rng: pick_chars(rng, _HEX, 32),
        "https://acme.webhook.office.com/webhookb2/0a1b2c3d-0000-1111-2222-0a1b2c3d4e5f"
        "@0a1b2c3d-0000-1111-2222-0a1b2c3d4e5f/IncomingWebhook/{}/0a1b2c3d",
    ),
    "bootstrap token": _around(
        lambda rng: pick_chars(rng, _HEX, 6) + "." + "k7" + pick_chars(rng, _HEX, 12) + "q9",
        "kubeadm join 10.0.0.1:6443 --token {}",
    ),
    "authorization token": _around(
        lambda rng: pick_chars(rng, _HEX, 40),
        "Authorization: token {}",
        "curl -H 'Authorization: token {}' https://api.acme.dev",
    ),
    "authorization api key": _around(
        lambda rng: pick_chars(rng, _ALNUM, 40), '"Authorization": "ApiKey {}"'
    ),
    "authorization basic": _around(_basic, "authorization: Basic {}"),
    "web key": _web_key,
    "putty key": _putty,
    "django key": _around(
        lambda rng: "k7" + pick_chars(rng, _DJANGO, 46) + "#9",
        "SECRET_KEY = '{}'",
        "SECRET_KEY = 'django-insecure-{}'",
        "DJANGO_SECRET_KEY={}",
    ),
    "cookie": _around(
        lambda rng: "s7" + pick_chars(rng, _ALNUM, 30),
        "Cookie: theme=dark; sessionid={}; a=b",
        "Set-Cookie: sid={}; Path=/; HttpOnly",
        "curl -b 'PHPSESSID={}' https://acme.dev",
        'curl --cookie "sid={}" https://acme.dev',
    ),
    "holdfast token": _around(
        lambda rng: f"hf_{pick_chars(rng, _HEX, 12)}_{pick_chars(rng, _ALNUM + '-_', 43)}",
        "{}",
        "export TEAM={}",
    ),
}


def list_kinds() -> list[Kind]:
    specials = [name for name, _, _ in known.special_cases(random.Random(0))]
    return [
        *(Kind(name, _shaped(recipe), True) for name, recipe in known.BY_SHAPE.items()),
        *(Kind(f"named {n}", _named(*pair), False) for n, pair in known.BY_NAME.items()),
        *(Kind(kind, _key(kind), False) for kind in known.PEM_KINDS),
        *(Kind(f"in {name}", _special(name), False) for name in specials),
        *(Kind(name, _told(text), False) for name, text in SENTENCES.items()),
        *(Kind(name, make, False) for name, make in _OTHERS.items()),
    ]
