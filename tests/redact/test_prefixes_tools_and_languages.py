"""Secrets as vendors, tools and people write them, by forms that no other test here has.

Each value is drawn anew from a fixed seed; what stands around it stays.
"""

import random
import string
from collections.abc import Callable

import pytest

from holdfast.redact import redact

DRAW = random.Random(25)
LETTERS = string.ascii_letters + string.digits


def _drawn(length: int, letters: str = LETTERS) -> str:
    return "".join(DRAW.choice(letters) for _ in range(length))


def _hex(length: int) -> str:
    return _drawn(length, "0123456789abcdef")


def _password() -> str:
    return f"{_drawn(5)}{DRAW.randrange(10)}{_drawn(6)}"


PREFIXES: dict[str, Callable[[], str]] = {
    "AVNS_{}": lambda: _drawn(19),
    "hcaik_{}": lambda: _drawn(58, string.ascii_lowercase + string.digits),
    "xaat-{}": lambda: f"{_hex(8)}-{_hex(4)}-{_hex(4)}-{_hex(4)}-{_hex(12)}",
    "cu_{}": lambda: _hex(32),
    "dsp_{}": lambda: _hex(40),
    "cs_{}": lambda: _hex(40),
    "nfc_{}": lambda: _drawn(40),
    "bb_live_{}": lambda: _drawn(27),
    "1000.{}": lambda: f"{_hex(32)}.{_hex(32)}",
    "vk1.a.{}": lambda: _drawn(180),
    "secret-live-{}": lambda: _drawn(48),
    "depot_project_{}": lambda: _hex(64),
    "pk_7654321_{}": lambda: _drawn(32, string.ascii_uppercase + string.digits),
    "live_{}": lambda: f"4{_drawn(29)}",
    "rzp_live_{}": lambda: _drawn(14),
    "GR1348941{}": lambda: _drawn(20),
    "sk-ws-01-{}": lambda: _drawn(60),
    "st.{}": lambda: f"{_hex(8)}-{_hex(4)}-{_hex(4)}-{_hex(4)}-{_hex(12)}.{_hex(32)}.{_hex(32)}",
    "pa-{}": lambda: f"{_drawn(41)}7Q",
}
TOOLS = """\
mssql-cli -S db -U sa -P {}
hydra -l admin -p {} ssh://10.0.0.4
racadm -r 10.0.0.1 -u root -p {} getsysinfo
xcrun altool --upload-app -u bob@example.com -p {}
az sql server create -u admin1 -p {} -n s
useradd -m -p {} bob
kadmin -p admin -w {} -q listprincs
vagrant cloud auth login -t {}
gh secret set DB_PASSWORD -b "{}"
curl -x http://p:3128 -U bob:{} https://example.org
grafana-cli admin reset-admin-password {}
dscl . -passwd /Users/bob {}
echo {} | vercel env add DB_PASSWORD production
echo {} | cryptsetup luksOpen /dev/sdb1 vault
echo {} | secret-tool store --label=db user bob
echo {} | vncpasswd -f
echo {} > ~/.vault_pass
sudo -S ls <<< "{}"
sqlplus sys/{} as sysdba
expdp app/{} schemas=app
consul kv put app/db_password {}
rclone config create nas sftp pass {}
mc alias set store http://10.0.0.2:9000 admin {}
bw login bob@example.org {}
pdftotext -upw {} report.pdf
net use Z: //nas/share /user:bob {}
[System.Net.NetworkCredential]::new("bob", "{}")
ConvertTo-SecureString -String "{}" -AsPlainText -Force
jwt.sign(payload, '{}')
bcrypt.hash('{}', 10)
signInWithEmailAndPassword(auth, "bob@example.org", "{}")
new PasswordAuthentication("bob", "{}".toCharArray())
new mysqli("localhost", "bob", "{}", "app")
let secret = String::from("{}");
os.getenv("DB_PASSWORD") or "{}"
#define WIFI_PASSWORD "{}"
char pass[] = "{}";
ALTER USER bob IDENTIFIED BY {}
<AdministratorPassword><Value>{}</Value></AdministratorPassword>
- **Password:** `{}`
nimm {} als Passwort
utilise {} comme mot de passe
a palavra-passe é {}
la chiave API è {}
the credentials are admin and {}
cargo login {}
poetry config http-basic.repo bob {}
composer config http-basic.repo.example.org bob {}
rootpw --plaintext {}
username admin password 0 {}
sql.Open("mysql", "bob:{}@tcp(h:3306)/db")
auth: { user: "b", pass: "{}" }
<property name="hibernate.connection.password">{}</property>
: PSK "{}"
:db-password "{}"
use {} when it asks for the password
Zugang: bob / {}
mdp : {}
salasana on {}
lozinka je {}
паролата е {}
비번 {}
رمز عبور {}""".splitlines()
HARMLESS = """\
password 0 characters long
the live_view and test_client fixtures
pass: "all 3 green"
secret-live-reload-configuration-for-the-server
pa-rt of the plan is to remove_everything_from_the_cache
cargo login is not needed
npm config get http-basic-auth
cs_identity_provider_registration_handler_name
rows.Query("select a from b where c = ?")@tcp(
{"pass": true, "fail": 0}""".splitlines()


@pytest.mark.parametrize("form", PREFIXES)
@pytest.mark.parametrize("around", ["{}", "found `{}` in the log", "x=1;{}&y=2"])
def test_a_vendors_prefix_tells(form: str, around: str) -> None:
    DRAW.seed(form)  # the same whatever ran before
    value = PREFIXES[form]()
    assert value[2:] not in redact(around.replace("{}", form.replace("{}", value)))


@pytest.mark.parametrize("form", TOOLS)
def test_what_a_tool_or_a_sentence_announces_goes(form: str) -> None:
    DRAW.seed(form)
    value = _password()
    told = form.replace("{}", value)
    assert value not in redact(told)
    assert redact(told).startswith(told[: told.index(value)])


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redact(text) == text
