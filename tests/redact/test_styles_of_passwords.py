"""Where a password stands, every style of password is found: twenty of each, drawn anew.

Words alone, a dot, a sign, a bracket, a year: a kind that is found for one of them is not found
for the others by itself.
"""

import json
import random
import string
from collections.abc import Callable

import pytest

from holdfast.redact import redact, redact_bytes

WORDS = (
    "copper lantern meadow falcon granite otter violet pepper kettle bramble anvil comet hinge"
    " wagon echo signal castle forest kelp trellis amber"
).split()
Style = Callable[[random.Random, str, str, str], str]
STYLES: dict[str, Style] = {
    "letters and digits": lambda rng, *_: "".join(rng.choices(string.ascii_letters, k=11)) + "7",
    "three words": lambda _, a, b, c: f"{a}{b.title()}{c.title()}",
    "a dot": lambda rng, a, b, _: f"{a.title()}.{b}{rng.randrange(10, 99)}",
    "a sign": lambda _, a, b, c: f"{a.title()}!{b}%{c.title()}",
    "a bracket": lambda rng, a, b, _: f"{a.title()}.x{rng.randrange(10)}[{b[:3]}]",
    "a year": lambda rng, a, *_: f"{a.title()}{rng.randrange(1990, 2026)}!",
    "a number": lambda rng, a, b, _: f"{a}{b.title()}{rng.randrange(10, 99)}",
}
# Here a bracket ends a value, or begins a call.
NO_BRACKET = ("{} as the password",)
PLACES = r"""
DB_PASSWORD={}
export ADMIN_PASS="{}"
spring.datasource.password={}
    password={}
db_password: {}
{"user": "bob", "password": "{}"}
<add connectionString="Server=s;User Id=u;Password={};" />
<Password>{}</Password>
conn = connect("dbname=d user=u password={} host=h")
jdbc:mysql://h/d?user=u&password={}&useSSL=false
//s/x /mnt cifs username=bob,password={},vers=3.0 0 0
10.0.0.11 ansible_user=root ansible_ssh_pass={}
helm upgrade x y --set auth.adminPassword={} -n auth
mvn deploy -Dmaven.password={}
cmdkey /add:server /user:bob /pass:{}
curl -u bob:'{}' https://x.lan/api
plink -pw {} bob@host
useradd -p $(openssl passwd -1 '{}') bob
vault kv put secret/db password={} user=app
echo '{}' | sudo -S ls
machine git.lan login bob password {}
nmcli dev wifi connect "net" password "{}"
define('FTP_PASS', '{}');
("password", "{}")
let password = String::from("{}");
new NetworkCredential("svc", "{}", "DOMAIN");
new Sequelize('db', 'user', '{}', {})
User.objects.create_user('bob', 'b@example.org', '{}')
await page.getByLabel('Passwort').fill('{}')
driver.find_element(By.ID, "pass").send_keys("{}")
variable "db_password" { default = "{}" }
EXEC sp_addlogin 'bob', '{}';
expect "assword:"\nsend "{}\r"
$ pass show mail\n{}\n
deploy_pw   {}
jwt.sign(payload, '{}')
bcrypt.hash('{}', 10)
ALTER USER bob IDENTIFIED BY {}
the password is {}
use {} as the password
Initial root password set to {}
la contraseña es {}
пароль: {}
パスワードは「{}」です
A temporary password is generated for root@localhost: {}
Password of the user successfully reset.\nNew value: {}
The generated password is:\n\n{}\n
331 Name okay, need password\nPASS {}
a2 LOGIN bob@x.lan "{}"
bob : EAP "{}"
Credentials("Artifactory Realm", "repo.lan", "bob", "{}")
DBI->connect("DBI:Pg:dbname=d", "bob", '{}')
new UsernamePasswordCredentialsImpl(SCOPE, "id", "", "bob", "{}")
lftp -u bob,'{}' sftp://x.lan
password: >-\n    {}\n
<AdministratorPassword>\n  <Value>{}</Value>
admin_password = '''{}'''
    Input Password    id:pw    {}
{"element": "Password textbox", "ref": "e1", "text": "{}"}
rasdial "Office" bob {}
ansible-vault encrypt_string '{}' --name x
chpasswd:\n  list: |\n    ann:Abcdef12\n    bob:{}
DB_AUTH: bob/{}
log in as bob/{}
login - bob\npass - {}""".strip().splitlines()


def _draw(style: str, seed: str) -> str:
    rng = random.Random(seed)
    return STYLES[style](rng, *rng.sample(WORDS, 3))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("place", PLACES)
def test_a_password_of_any_style_is_found_where_one_stands(place: str, style: str) -> None:
    if style == "a bracket" and any(around in place for around in NO_BRACKET):
        return
    place = place.replace("\\n", "\n")
    values = [_draw(style, f"{place} {number}") for number in range(20)]
    assert [value for value in values if value in redact(place.replace("{}", value, 1))] == []
    row = json.dumps({"text": place.replace("{}", values[0], 1)}, ensure_ascii=len(place) % 2 == 0)
    assert values[0] not in redact_bytes(row.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "--password=<password>",
        "password=config.db.password",
        "export DB_PASSWORD=$(cat file)",
        "SECRET_KEY=secrets.token_hex(32)",
        "password: settings.Password!",
        'PASSWORD_LABEL="Neues Passwort bitte"',
        "the password is hashedByTheServer",
        'echo "${{ secrets.TOKEN }}" | docker login --password-stdin',
        "password: z.string().min(12).max(128),",
        "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbC1dE",
        "--pass-color: #385170;",
        'SECRET_RE = re.compile(r"(?:ghp|gho)_[A-Za-z0-9]{36}")',
        "use the `useEnableMFA` / `useManageMFA` hooks for admin / userSettings",
        "const cachedToken = storage.getItem('__e2e_cached_token__');",
        "bcrypt.hash('password', saltRounds)",
        "pin the version to 2024 and the key to 5",
        "password: '%env(resolve:DB_PASSWORD)%'",
        "password: ENC[AES256_GCM,data:kk2m9Tr5eSH,iv:JJWDBPzJMSp6Xq,type:str]",
        '- textbox "Password" [ref=e17]',
        "password_encryption = scram-sha-256",
        "password: 'weak password strength again'",
        '{"field": "password", "text": "Passwort eingeben"}',
        "331 tests run\nPASS src/login.test.ts",
        "docker run -t 0f3a91c27be4 sh",
        "log in as admin/superuser",
        "login - shows the form\npass - rendersHeader",
    ],
)
def test_what_a_program_or_a_sentence_says_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Wallet recovery phrase:\n" + "amber copper meadow falcon " * 3, ""),
        ("Backup codes:\n99dc2-d2d7c\nae7f2-19d89\n", "ae7f2-19d89"),
        ("the PIN for the door is 4839, unlock it", "4839"),
        ('psk="granite fox umbrella"', "fox umbrella"),
        ('wifi_password: "granite fox umbrella"', "granite"),
        ("echo 'granite fox umbrella' | keepassxc-cli show db.kdbx x", "granite"),
        ("oathtool --totp -b LBQXGZLTNB2W6ZTP", "LBQXGZLTNB2W6ZTP"),
        ("enter this key manually: LBQX GZLT NB2W 6ZTP", "GZLT"),
        ("AUTH PLAIN AGJvYgBHcmFuaXRlNDI=", "AGJvYgBHcmFuaXRlNDI="),
        ("kit upload -t 5f0c2ab1-7d44-4c1e-9b0a-5f6e7d8c9b0b", "5f0c2ab1"),
        ("Lösenordet är Järn.Ek42", "Järn.Ek42"),
        ("a senha mudou para Feijão_81!", "Feijão_81"),
        ("export RESTIC_PASSWORD='granite fox umbrella'", "granite"),
        (
            'Client("AC7acb8beb982a38a65614965b344bb5d0", "0c1c3a605a23adf7fd582ca5b04c16be")',
            "0c1c",
        ),
        ('authTok  = "bf63d4f62f02498a7844d0fa525133990d14520b26c7dba7"', "bf63d4f62f"),
        ('"Jwt": { "Key": "8JhK87QVet5ag7K9hmxtw3jd8QQejbAKj5R2Y6HIeB" }', "8JhK87"),
    ],
)
def test_words_digits_and_keys_that_are_a_secret_by_what_they_are_called(
    text: str, secret: str
) -> None:
    if not secret:
        text, secret = text.replace("falcon", "{}"), "falcon granite"
        for word in ("falcon granite", "otter violet pepper", "kettle bramble anvil"):
            text = text.replace("{}", word, 1)
    assert secret in text
    assert secret not in redact(text)
