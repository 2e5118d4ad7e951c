"""What commands, calls and files put in front of a password: plain data.

Owns: the table of options, what stands behind a word that announces a password, and the commands
that take one from a pipe or print one. The prefilter and the bulk scan look for these words.
Must not: import anything. In a pattern the group `value` is a password unless it is a stand-in;
`told` must read as one.
"""

_QUOTE = r"\\{0,7}[\"']?"
_WORD = r"(?P<value>[^\s\"'\\]{4,200})"
QUOTED = (
    r"(?:\\{0,7}\"(?P<double>[^\"\n\\]{4,200})|\\{0,7}'(?P<single>[^'\n\\]{4,200})|" + _WORD + ")"
)
_LITERAL = r"\\*[\"'](?P<value>[^\s\"'\\]{4,100})"
_APART = r"(?:[ ]{1,4}|=)" + QUOTED
_EITHER = r"(?:[ ]{0,4}|=)" + QUOTED
_PAIR = r"(?:[ ]{0,4}|=)" + _QUOTE + r"[^\s:\"'\\]{1,80}:" + QUOTED
_PERCENT = r"(?:[ ]{0,4}|=)" + _QUOTE + r"[^\s%\"'\\]{1,80}%" + _WORD
_COMMA = r"[ ]{0,4}" + _QUOTE + r"[^\s,\"'\\]{1,80}," + QUOTED
# A token of 32 hex digits or more, or a UUID.
_HEX = (
    r"[ ]{1,4}[\"'\\]{0,4}(?P<double>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,64})"
    r"(?![\w./:\-])"
)
_COOKIES = r"(?:[ ]{1,4}|=)" + _QUOTE + r"(?:[\w.\-]{1,60}=)" + _WORD
_LOGIN = (
    r"(?:docker|podman|nerdctl|buildah|helm|oras|crane|skopeo|az|oc|cf|regctl)\b[^\n|;&]*\blogin"
)
_MYSQL = r"(?:mysql|mariadb)[\w\-]*"
_HTTP = r"(?:https?|httpie|xhs?|curlie)"
_LDAP = r"ldap(?:search|add|modify|delete|passwd|whoami|modrdn|compare|vi)"

# Options, the commands that they belong to, how the value stands behind one of the options.
_OPTIONS: tuple[tuple[str, str, str], ...] = (
    (
        "-p",
        rf"(?:{_LOGIN}|mongo(?:sh|dump|restore|export|import|stat|top|files)?"
        r"|cqlsh|sshpass|cypher-shell|rdesktop|evil-winrm|rabbitmqadmin|twine"
        r"|psexec|crackmapexec|netexec|nxc|ncftp\w{0,4}|hydra|racadm|ftp\w{0,3})",
        _EITHER,
    ),
    ("-p", rf"(?:{_MYSQL}|7z[arz]?|rar|unrar)", QUOTED),
    (
        "-p",
        r"(?:beeline|certutil|(?:vsce|ovsx)\b[^\n|;&]*\bpublish|security\b[^\n|;&]*keychain"
        r"|xcrun\b[^\n|;&]*\baltool|az\b[^\n|;&]*\bcreate|user(?:add|mod)"
        r"|poetry\b[^\n|;&]*\bpublish|dotnet\b[^\n|;&]*\bdev-certs|influx|arango\w{1,9})",
        _APART,
    ),
    ("-hp", r"(?:rar|unrar)", QUOTED),
    ("-a", r"redis-cli", _EITHER),
    ("-a --auth", _HTTP, _PAIR),
    ("-auth", r"(?:java\b[^\n|;&]*-jar|jenkins-cli)", _PAIR),
    ("-b --body", r"gh\b[^\n|;&]*\bsecret\b[^\n|;&]*\bset", _APART),
    (
        "--value",
        r"(?:az\b[^\n|;&]*\bkeyvault\b[^\n|;&]*\bsecret\b[^\n|;&]*\bset"
        r"|aws\b[^\n|;&]*\bput-parameter\b[^\n|;&]*SecureString)",
        _APART,
    ),
    (
        "--value",
        r"aws\b[^\n|;&]*\bput-parameter",
        _APART + r"(?=[\"'\\]{0,8}[ ][^\n]{0,200}SecureString)",
    ),
    ("-w", _LDAP, _EITHER),
    ("-w", r"(?:kadmin|security\b[^\n|;&]*\badd-[a-z]{1,10}-password)", _APART),
    ("-s", "ldappasswd", _EITHER),
    ("-U", r"(?:smbclient|smbget|rpcclient|smbmap|net|smbcacls)", _PERCENT),
    (
        "-P",
        r"(?:(?:un)?zip|zipcloak|sqlcmd|mssql-cli|bcp|tsql|osql|isql|mosquitto_[a-z]+|ipmitool)",
        _EITHER,
    ),
    ("-P -N", r"ssh-keygen", _APART),
    (
        "-k",
        r"(?:openssl\b[^\n|;&]*\benc|nuget\b[^\n|;&]*\bpush|choco\b[^\n|;&]*\bapi-?key)",
        _APART,
    ),
    ("-u -U --proxy-user", r"curl", _PAIR),
    ("--user", r"(?:curl|etcdctl|influx|couchbase-cli)", _PAIR),
    ("-u", r"lftp", _COMMA),
    ("-pw -passwd", r"(?:plink|pscp|psftp|putty|kitty|x11vnc)", _APART),
    ("-b", r"curl", _COOKIES),
    ("-pass", r"openssl", r"(?:in|out)?[ =]{1,4}" + _QUOTE + r"pass:" + _WORD),
    ("--creds --src-creds --dest-creds", r"(?:skopeo|podman|buildah)", _PAIR),
    ("-A -X", r"snmp(?:walk|get|set|bulkwalk|trap)", _APART),
    ("-storepass -keypass", "(?:keytool|jarsigner)", _APART),
    ("-t", r"(?:vagrant\b[^\n|;&]*\blogin|doctl\b[^\n|;&]*\bauth)", _APART),
    ("--auth", r"(?:netlify|ntl)", _APART),
    ("-t", r"(?:anaconda|influx|codecov|sentry-cli|surge)", _APART),
    ("-t", r"[\w\-]{2,30}[ ](?:upload|publish|login|deploy|release)[\w\-]{0,12}", _HEX),
    ("-upw -opw", r"pdf[a-z]{2,8}", _APART),
)
OPTIONS = tuple(
    (option, command, value) for options, command, value in _OPTIONS for option in options.split()
)
# user/password@service
_ORACLE = r"[A-Za-z_][\w.$]{0,40}/(?=\S{0,100}@|\S{0,100}[0-9])(?P<value>[^\s@\"'/\\]{4,100})"
_THEN = r"[ ]+" + QUOTED
_AN_ARGUMENT = r"[^()\n\"']{0,60}"
# A call with the user, or with the host and the user, before the password.
_AFTER_USER = (
    rf"{_AN_ARGUMENT}(?:\\*[\"'][^\n\"'\\]{{0,80}}\\*[\"'][^\n()\"']{{1,12}}){{%s}}"
    r"\\*(?=[\"'](?![a-z]+[\"'\\]))(?:\"(?P<double>[^\s\"\\]{4,100})\\*\"|'(?P<single>[^\s'\\]{4,100})"
    r"\\*')(?:\.toCharArray\(\))?[ ]?[,)]"
)
_TOLD = r"(?P<told>[^\s\"'\\]{6,100})"
_SEED = r"[\"'\\]{0,8}(?P<double>[A-Z2-7]{16,64}|[A-Z2-7]{4}(?:[ \-][A-Z2-7]{4}){3,15})(?![\w\-])"
_USER_LINE = r"\s+[\w.\-]{1,40}:(?P<value>[^\s\"'\\:]{4,100})(?=\s|\Z)"
_DRAWN = r"b?\\*[\"'](?P<told>[^\s\"'\\]{8,100})\\*[\"']"

# What stands behind a word in lower case: in a command without an option, in a call, in a file.
ANNOUNCED: tuple[tuple[str, str], ...] = (
    ("rabbitmqctl", r"[^\n]{0,80}?(?:add_user|change_password)[ ]+\S{1,80}" + _THEN),
    (
        "htpasswd",
        r"[ ]+-[a-zA-Z]{0,4}b[a-zA-Z]{0,3}[ ]+(?:\S{1,200}[ ]+){1,2}?"
        + QUOTED
        + r"[\"'\\]{0,4}[ ]{0,4}(?:\n|\Z|[;&|<\"'])",
    ),
    ("openssl passwd", r"(?:[ ]+-(?:[1-6]|apr1|salt[ ]+\S{1,40})){0,3}[ ]+(?!-)" + QUOTED),
    ("set password for", r"[^\n=]{1,120}=[ ]{0,4}" + _LITERAL),
    (":thin:", _ORACLE),
    # requests.get(url, auth=("bob", "X")), HTTPBasicAuth("bob", "X")
    *(
        (f"auth{set_to}(", r"[ ]?\\*[\"'][^\s\"'\\]{1,80}\\*[\"'],[ ]{0,2}(?:Some\()?" + _LITERAL)
        for set_to in ("", "=", " = ")
    ),
    *((tool, r"[ ]+(?:-[a-zA-Z][ ]+)?" + _ORACLE) for tool in ("sqlplus", "expdp", "impdp")),
    ("rdp /", r"[^\n|;]{0,200}?[ ]/p:" + QUOTED),
    ("convertto-securestring", r"[ ]+(?i:-string[ ]+)?" + _LITERAL),
    *((word, r"[ ]+" + _LITERAL) for word in ("storepassword", "keypassword")),
    ('name="password"', r"(?:\r?\n|\\[rn]){1,6}(?P<value>[^\s\"'\\]{4,100})"),
    ("wpa_passphrase", r"[ ]+\S{1,80}" + _THEN),
    ("net use", r"r?[ ]+(?:\S{1,80}[ ]+){1,2}" + QUOTED + r"[ ]+/(?:add|user|domain)"),
    ("net use", r"[^\n]{1,120}/user:\S{1,80}" + _THEN),
    ("kv put", r"[ ]+\S{0,80}(?:pass|secret|token|key)\S{0,40}" + _THEN),
    ("rclone config", r"[^\n|;]{1,120}?[ ]pass(?:word)?[ =]" + QUOTED),
    ("alias set", r"[ ]+\S{1,60}[ ]+https?://\S{1,120}[ ]+\S{1,60}" + _THEN),
    ("github-oauth", r"\S{0,40}" + _THEN),
    ("bw login", r"[ ]+\S{1,60}@\S{1,60}" + _THEN),
    ("sonar.login", r"[ ]?=[ ]?" + QUOTED),
    *(
        (word, _THEN)
        for word in (
            *("requirepass", "masterauth", "input_pw", "user_pw", "owner_pw", "rclone obscure"),
            *("operator unseal", "admin-password", "rootpw --plaintext", "cargo login"),
        )
    ),
    *((word, r"[ ]+[\w.@\-]{1,60}" + _THEN) for word in ("user:password", "resetpassword")),
    ("rootpw", r"[ ]+(?P<told>[^\s\"'\\\-][^\s\"'\\]{5,100})"),
    ("pragma key", r"[ ]?=[ ]?" + _LITERAL),
    *((call, r"\\*[\"'](?P<told>[\w.\-]{24,100})\\*[\"']") for call in ("login(", "bot.run(")),
    ("sp_addlogin", r"[ ]+\S{1,80},[ ]*N?" + _LITERAL),
    (
        "variable ",
        r"\\*\"[\w\-]{0,40}(?:pass|secret|token|key)[\w\-]{0,20}\\*\"[ ]?\{[^}]{0,300}?"
        r"\bdefault\s{0,9}=\s{0,9}" + _LITERAL,
    ),
    ("vault login", r"[ ]+(?!-)(?:token=)?(?P<told>[^\s\"'\\]{8,200})"),
    ("pypi-token.", r"\S{1,40}" + _THEN),
    ("heroku auth:token", r"\n" + QUOTED),
    # What a program logs in with: login("bob", "X"), connect(host, 22, "bob", "X").
    *(
        (call, _AFTER_USER % "1,2")
        for call in (
            *("login(", "connect(", "connection(", "basic(", "new pdo(", "mysqli(", " ftp("),
            *("authentication(", "andpassword(", "set_password(", "wifi.begin(", "sequelize("),
            *("create_user(", "create_superuser("),
        )
    ),
    *(
        (call, _AFTER_USER % "1")
        for call in ("userpassword(", "credential(", "credentials(", "credential]::new(")
    ),
    *((call, _AFTER_USER % "3") for call in ("credentials(", "credentialsimpl(")),
    # What a token is signed and a text is hashed or encrypted with, where it is written out.
    *((call, _DRAWN) for call in ("fernet(", "crypt(", "crypt.hash(", "hashpw(", "hashsync(")),
    *(
        (call, r"[^()\n]{1,80}?,[ ]?" + _DRAWN)
        for call in ("jwt.encode(", "jwt.sign(", "hmac(", "_encrypt(", "_decrypt(")
    ),
    ("password", r"\\*[\"']?\]\\*[\"'],[ ]?" + _LITERAL),
    # expect "password:" and what is sent then
    (
        "assword:",
        r"[ *]{0,3}[\"'][^\n\"']{0,8}[;\n\s)]{1,8}(?:\w{1,20}\.)?(?:exp_)?send[^\n\"']{0,12}"
        + _LITERAL,
    ),
    ("-passwd", r"[ ]+/\S{1,80}" + _THEN),
    # Where a device wants to know how it is written; and what is not a number of something.
    ("password", r"[ ][0579][ ](?=\S{0,40}[0-9])(?=\S{0,40}[A-Za-z])" + _WORD),
    (
        "http-basic",
        r"\.?\S{0,80}[ ]+(?:\S{1,80}[ ]+){1,2}?" + QUOTED + r"[ ]{0,4}(?=\n|\Z|[;&|<\"'\\])",
    ),
    ("password is generated for", r"[ ][^\n]{1,80}?:[ ](?P<double>[^\s\"\\]{8,100})"),
    ("successfully reset.", r"(?:\s|\\n){1,4}New value:" + _THEN),
    # FTP, POP3, SMTP and IMAP as they are spoken.
    ("331 ", r"[^\n]{0,80}?[Pp]assword[^\n]{0,60}\n[>C: \-]{0,5}PASS" + _THEN),
    ("+ok", r"[^\n]{0,120}\n[>C: \-]{0,5}PASS" + _THEN),
    (
        "auth plain",
        r"[ ](?=[A-Za-z+/]{0,80}[0-9=])(?P<double>[A-Za-z0-9+/]{12,400}={0,2})(?![\w\-])",
    ),
    (" login ", r"(?<= LOGIN )\\*\"?[\w.+\-]{1,60}@[\w.\-]{3,60}\\*\"?" + _THEN),
    *((kind, _LITERAL) for kind in (": eap ", ": xauth ")),
    ("snmp-server community", _THEN),
    ("identify ", r"(?<=NickServ IDENTIFY )" + QUOTED),
    # The seed of codes that change: in its file, on its page, behind its tool's option.
    *(
        (word, r"[^\n]{0,30}?[ :=\"'\\]" + _SEED)
        for word in ("totp", "manually", "setup key", "authenticator app")
    ),
    ("_auth", r"(?<=_AUTH)[\"'\\]{0,8}[ ]?[:=][ ]?" + _QUOTE + r"[\w.\-]{2,30}/" + _TOLD),
    *(
        (word, r"[\w.@\-]{2,40}/" + _TOLD)
        for word in ("log in as ", "login as ", "log in with ", "logged in as ", "sign in as ")
    ),
    *(
        (word, r"\S{2,80}\s{1,4}pass(?:word)?[ ][\-–][ ]" + _TOLD)
        for word in ("login - ", "user - ")
    ),
    ("input password", r"(?:[ ]{2,8}|\t)\S{1,80}(?:[ ]{2,8}|\t)" + QUOTED),
    *((word, r"[ ]{2,8}\S{1,80}[ ]{2,8}" + QUOTED) for word in ("fill secret", "type secret")),
    # A tool call of a browser whose element is called like that.
    (
        "password",
        r"[^{}\n,]{0,30}\"[ ]?,[^{}\n]{0,80}\\*\"(?:text|value)\\*\"[ ]?:[ ]?\\*\"" + _TOLD,
    ),
    ("random_password", r"[\s\S]{0,300}?\"result\\*\"[ ]?:[ ]?" + _LITERAL),
    (".vault.azure.net/secrets/", r"[^{}]{0,200}?\"value\\*\"[ ]?:[ ]?" + _LITERAL),
    ("rasdial", r"[ ]+(?:\"[^\"\n]{1,60}\"|[^\s\"]{1,60})[ ]+\S{1,60}" + _THEN),
    ("encrypt_string", _THEN),
    ("bw_session", r"[ ]?=[ ]?" + QUOTED),
    ("bundle config", r"[^\n]{0,40}?[ ][\w\-]+\.[\w.\-]+[ ]+(?P<double>\w{2,60}:\w{4,100})"),
    ("[admins]", r"\s{1,4}[\w.\-]{1,40}[ ]?=[ ]?" + _WORD),
    *(
        ("chpasswd:", r"\s[^#|]{0,80}\|?" + r"\s+[\w.\-]{1,40}:\S{4,100}" * n + _USER_LINE)
        for n in range(5)
    ),
    ("identified by", r"\s{1,4}" + _LITERAL),
    ("identified by", r"[ ]+(?P<told>[^\s\"'\\;]{6,100})"),
)

# What is typed into a field that is called like a password: Selenium, Playwright, Cypress.
TYPED: tuple[str, ...] = (
    *(".fill(", ".type(", "send_keys(", "sendkeys(", "press_sequentially(", ".setvalue("),
    *("typetext(", ", with: "),
)
FIELD = (
    r"(?:pass(?:w|phrase|code)|[\"'#=.]pass\b|pwd|kennwort|contrase|senha|secret|parol|has[lł]o"
    r"|mot de passe|wachtwoord|salasana|token|密码|パスワード|비밀번호)[^\n;]{0,80}\Z"
)

# A command that takes a secret from what is handed to it, and a file that is made to keep one.
HANDED_ON = ("echo ", "printf ", "<<<")
TAKES_A_SECRET = (
    r"passw?|secret|token|login|luks|unlock|sudo (?:-\w+ )*-\w*s|kinit|vault|signin|\bbw\b"
    r"|insert|keepass|ssh-add|\bage -|read -\w{0,3}s|cryptsetup|gpg|base64|\benv add"
)

# A command that prints a secret, alone on the next line.
PRINTS_A_SECRET = (
    *("pass show", "gopass show", "op read", "op item get", "bw get", "lpass show", "kv get"),
    *("secret-tool lookup", "find-generic-password", "find-internet-password", "base64 -d"),
    *("get-secret-value", "secrets versions access", "keyvault secret show", "output -raw"),
    *("config:get", "gh auth token", "print-access-token", "get-access-token", "pwgen"),
    *("initial-password", "openssl rand", "ssm get-parameter", "/run/secrets/", "token create"),
    *("sops -d", "age -d", "get-login-password", "secrets get", "auth.txt", "credentials.txt"),
    *("creds.txt", "pass.txt", "password.txt", "vault_pass", "chamber read", "base64 --decode"),
    *("master.key", "node-token", "passgen"),
)

COMMAND_WORDS = (
    *dict.fromkeys(word for word, _ in ANNOUNCED),
    *TYPED,
    *HANDED_ON,
    *PRINTS_A_SECRET,
    "@tcp(",
)
