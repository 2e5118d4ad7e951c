"""Lines that a session holds every day and that hold no secret. Written by hand."""

INNOCENT = r"""
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD", "")
token: str
token: str | None = None
def login(user: str, password: str) -> Token:
func Login(user, password string) error {
getToken()
const token = getToken();
const token = await auth.getAccessToken(user.id);
export GITHUB_TOKEN=$TOKEN
export GITHUB_TOKEN=${TOKEN}
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
token: "{{ .Env.TAP_GITHUB_TOKEN }}"
API_KEY=<your-token>
API_KEY=your-api-key-here
api_key: "xxxxxxxxxxxxxxxx"
password: ********
DB_PASSWORD=changeme
password: "password"
PASSWORD=%DB_PASSWORD%
"password": "string"
{"password": {"type": "string", "minLength": 8}}
password: string;
passwordHash: await bcrypt.hash(password, 10),
secretName: acme-tls-2024
kubectl create secret generic acme --from-file=tls.key
"max_tokens": 4096, "input_tokens": 128003, "cache_read_input_tokens": 99120
next_page_token: "CAUQAA1234abcd"
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
token_type: bearer
Authorization: Bearer <token>
Authorization: Bearer ${TOKEN}
headers["Authorization"] = f"Bearer {token}"
The bearer authentication scheme is described in the RFC.
basic authentication is enough here
basic commit information for display
ok  	github.com/acme/app/cmd	0.412s
--- PASS: TestLogin_WithPassword1 (0.02s)
PASS: TestTokenRefresh42
commit 3f786850e387550fdab836ed7e6dc881de23001b
"uuid": "721e2c45-a499-4a69-9ae9-90cf0a1b2c3d", "sessionId": "0276a600-2f22-4d2b-844c-3feb9c5aa108"
integrity sha512-9bJ6y0mTz0jZr2Tn8dEV4x8HqkqzQwXq2sY3l5vYw1u8kq2n0c3b4d5e6f7a8b9c0d1==
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
h1:mrfrp5XnBvBM6uR1J2bKrJ1V3KqXpUoGqH0xZ0m1d0Y=
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx0cmFuZG9tcHVibGlja2V5ZGF0YWhlcmVvaw dev@acme
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
grep -rn "BEGIN RSA PRIVATE KEY" .
https://github.com/acme/app/pull/42#discussion_r123456789
http://localhost:3000/users/@me
postgres://user:password@localhost:5432/app
postgres://postgres:postgres@localhost:5432/app
postgres://${DB_USER}:${DB_PASS}@db:5432/app
f"{scheme}://{user}:{password}@{host}"
ssh://git@github.com:22/acme/app.git
npm install @types/node@20.1.0 react@^18.2.0
docker run -u 1000:1000 -p 8080:80 acme/app
mkdir -p src/token/key
mysql -u root -p app < dump.sql
curl -u "$USER:$PASS" https://acme.dev
task-management-service-configuration-file
the sk-learn-estimator-container-with-a-long-name class
risk-assessment-2024-final-version-document
disk-usage-analyzer-for-large-directories-v2
"key": "value", "primary_key": "id", "foreign_key": "user_id1"
cache_key = f"user:{user_id}:v2"
React.useState<string>("key-1")
<input type="password" name="password" placeholder="Password123" />
<label for="password">Password:</label>
Password is required
the token is invalid or expired
the password is required for login
pass: this one checks the second pass
self.password = password
this.token = token;
token = request.headers.get("X-Auth-Token")
auth: { user: "x", method: "oauth2" }
author: Jane Doe <jane@acme.dev>
--password flag is deprecated, use --password-file /run/secrets/db instead
use --token to pass a token
if password == "":
assert token != None
secret = load_secret("acme/db")
client_secret=settings.CLIENT_SECRET
client_secret: process.env.CLIENT_SECRET!
api_key=api_key,
foo(api_key=cfg.api_key, token=tok)
private_key_path: /etc/ssl/private/server.key
API_KEY_HEADER = "X-Api-Key-V2"
password_min_length: 12
TOKEN_TTL=3600
token_count=152310
PWD=/home/dev/project
OLDPWD=/home/dev
credentials: "include"
credentials: true,
secrets: inherit
keyboard: "qwerty123"
monkey: banana42
eyJ is how every JSON web token starts
version = "1.2.3-rc.4+build.20240105"
import { signToken, verifyToken2 } from "./token";
expect(token).toBe("mock-token-123");
password: "test-password"
const PASSWORD_FIELD = "current_password2";
hf_hub_download(repo_id="acme/model")
npm_config_registry=https://registry.npmjs.org/
re_compile_pattern_with_flags(x)
sk_buff *skb = alloc_skb(len, GFP_ATOMIC);
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
toolu_01UiXhDdemoPwd3qRorm3n7L msg_011HivX2hTcGZLN4pwD2YVxU req_011CSHoEeqs5C35K2UUqR7Fy
[redacted:github-token]
password=[redacted:password]
Authorization: Bearer [redacted:bearer-token]
Password: at least 8 characters, one of them a digit
password: the user's own, never the service account's
The password is base64-encoded before it is stored
the password is sha256-hashed with 100000 rounds
Set the password to expire after 90 days
set the password to something stronger
change the password for the admin user in step 3
the root password was rotated in v2.1
use pw reset flow for now
Web3Auth is where passwordless auth meets key infrastructure
Pass2word is the password manager we use
the pw field is 12 chars wide
admin / user roles are checked in middleware2.py
root / child nodes
src / lib / dist folders
the admin: see docs/admin.md
credentials: include
creds are read from the keychain
Cookie: theme=dark; lang=en
Set-Cookie: theme=dark; Path=/; HttpOnly
cookies = {"theme": "dark"}
docker login -u bob -p $REGISTRY_PASSWORD registry.acme.dev
docker run -p 8080:80 -w /app acme/app
mkdir -p src/app && cp -p a b
redis-cli -h db -p 6379 ping
ldapsearch -x -W -D cn=admin
zip -r out.zip src
openssl rsa -in k.pem -passin env:KEY_PASS
http GET acme.dev/users page==2
ssh -p 2222 deploy@acme.dev
psql -h db -p 5432 -U app
Authorization: token <token>
Authorization: Digest username="bob"
src/app/main.py:12:34:error:E501 line too long
db:5432:ready
"kty": "RSA", "n": "abc", "e": "AQAB"
pass: test_login_with_two_factors22
SECRET_KEY = os.environ["DJANGO_SECRET_KEY"]
const url = `${base}?password=${encodeURIComponent(password)}&user=${user}`
DB_PASSWORD%3D%24%7BDB_PASSWORD%7D
| PASSWORD | "pinFactor" | Sign in with a password |
| `wrappedPrivateKey` | `Uint8Array` | raw | wrapped |
| `item.privateKeyWrapped` | `packages/crypto/src/ed25519/keys.ts` |
| api_key | string | yes | the key of the account |
| secret | sha256-hashed | no |
- name: DB_PASSWORD\n  valueFrom: secretKeyRef
{"name": "refresh_token", "value": "<token>"}
{"name": "password", "value": "string"}
<key>password</key><string>$PASSWORD</string>
process.env.API_KEY || ""
process.env.API_KEY ?? 'changeme'
os.getenv("DB_PASSWORD", "postgres")
password: str = Field(default="")
ENV API_KEY ${API_KEY}
ENV NODE_ENV production
set -x GITHUB_TOKEN $argv[1]
npm config set registry https://registry.acme.dev/
aws configure set aws_secret_access_key $SECRET
gh secret set API_KEY --body "$API_KEY"
az keyvault secret set --vault-name v --name n --value "$VALUE"
requests.get(url, auth=("user", "password"))
HTTPBasicAuth("user", "pass")
the API key is stored in the keychain
your access key is rotated every 90 days
the secret key: see docs/keys.md
token: >-
kind: Secret
mnemonic: a short word that helps to remember
write the seed phrase down and keep it away from the computer that you use every day
git config --global user.path /usr/local/bin
requirepass ${REDIS_PASSWORD}
EXT_PAT=$TOKEN
my api key is "phc_q7Xw5VskuIkxcZAvW5itX7iJkb"
STRIPE_KEY = "pk_live_q7Xw5VskuIkxcZAvW5itX7iJkb"
jwt.sign(payload, process.env.JWT_SECRET)
bcrypt.hash('password', saltRounds)
let secret = String::from("JWT_SECRET");
new mysqli("localhost", "root", "", "app")
connect("localhost", 5432, "app", "users")
#define API_TOKEN_HEADER "X-Api-Token"
#define DEFAULT_PASSWORD "password"
<Password>ForgotPassword</Password>
<password>${env.DB_PASSWORD}</password>
os.getenv("DB_PASSWORD") or ""
expdp scott/tiger schemas=scott
CREATE USER bob IDENTIFIED BY password_placeholder;
mc alias set local http://localhost:9000 minioadmin minioadmin
echo done > secrets/README.md
Use argon2id for the password
la clave foránea es order_id2
nimm bcrypt als Hash für das Passwort
- **Password:** required
**API key:** optional, from the dashboard
the credentials are correct and valid
""".strip("\n").split("\n")
