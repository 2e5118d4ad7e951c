"""The built-in secret shapes: plain data, no code.

Owns: for every token with a shape of its own, its label, the literal anchor it starts with and the
source of the pattern that follows the anchor; and the words that make a name a secret's name.
Must not: import anything. The lightest hook reads the anchors here without paying for `re`.

Rules for a new row:
- the anchor is literal and case-sensitive, and the secret starts with it;
- every repetition has an upper bound, so that a hostile text costs linear time (the engine extends
  a match to the end of its run of token characters);
- an anchor of three or more characters that ends in `_`, `-` or `.` is followed by at least
  BULK_TAIL token characters. The bulk scan over archives finds these by their separator; it
  searches for each of the other anchors by itself, at about 0.6 ms per MB each, so keep those few.
"""

LABEL_OPEN = "[redacted:"

# What the bulk scan asks for after a separator; the shortest body in the table decides.
BULK_TAIL = 16

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

# What most tokens are made of; a match is extended to the end of its run, so 250 is a bound alone.
_WORD = r"[A-Za-z0-9_\-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"

# Tokens of one shape: the pattern of what follows an anchor; then labels, each with its anchors.
_VENDORS: tuple[tuple[str, str], ...] = (
    (_WORD + "{20,250}", "anthropic-key sk-ant-; openai-key sk-proj- sk-svcacct- sk-admin-"),
    (_WORD + "{20,250}", "gitlab-token gldt- glcbt- glptt- glsoat- glft- glimt- glffct- glwt-"),
    (_WORD + "{20,250}", "gitlab-token gloas- GR1348941"),
    (_WORD + "{20,250}", "slack-token xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxe- xapp- xoxe."),
    (_WORD + "{20,250}", "square-token sq0atp-; google-token ya29.; google-secret GOCSPX-"),
    (_WORD + "{20,250}", "polar-token polar_oat_; thunderstore-token tss_; wandb-key wandb_v1_"),
    # These prefixes say whose it is by themselves.
    (_WORD + "{20,250}", "api-key AIK_CI_ AIK_CLIENT_ AIK_SECRET_ essu_ mlsn. mdb_sa_sk_ pina_"),
    (_WORD + "{20,250}", "api-key prf_ pscale_oauth_ polar_at_ polar_pat_ ucat_ vci_ tgp_v1_"),
    (_WORD + "{20,250}", "api-key persona_production_ nyk_ sk_car_ rootly_ api_live. api_live_ca."),
    (_WORD + "{20,250}", "api-key api_live_us. packagist_ort_ packagist_out_ packagist_acs_"),
    (_WORD + "{20,250}", "api-key packagist_ack_ bkar_ hmlg_ unkey_ ddo_ CCDB1_ lip_ ramp_id_"),
    (_WORD + "{20,250}", "api-key dvc_server_ mercury_production_ mergify_application_key_"),
    (_WORD + "{20,250}", "api-key xnd_production_ PMAT- gcntfy- llx- FLWSECK_TEST-"),
    (r"v\d{1,5}-[A-Za-z0-9]{20,128}", "openrouter-key sk-or-"),
    # Also DeepSeek, Moonshot, LiteLLM and others that borrowed the prefix.
    (r"(?:[a-z]{2,8}-)?[A-Za-z0-9]{20,128}", "api-key sk-"),
    (_ALNUM + "{40,250}", "groq-key gsk_; notion-token ntn_"),
    (_ALNUM + "{40,250}", "doppler-token dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.; neon-key napi_"),
    (_ALNUM + "{40,250}", "cloudflare-token cfut_ cfat_; ramp-key ramp_sec_; sentry-token sntrya_"),
    (_ALNUM + "{40,250}", "posthog-key phs_; perplexity-key pplx_"),
    (_WORD + "{40,250}", "xai-key xai-; pinecone-key pcsk_; github-token github_pat_"),
    (_WORD + "{40,250}", "square-token sq0csp-; contentful-token CFPAT-; gitlab-token glagent-"),
    (_WORD + "{40,250}", "vercel-token vcp_ vck_ vca_ vcr_; openshift-token sha256~"),
    (_WORD + "{40,250}", "google-key AQ.Ab; codeium-key sk-ws-01-; api-key tk-us-"),
    (_ALNUM + "{32,250}", "perplexity-key pplx-; linear-key lin_api_ lin_oauth_; iconik-key ico-"),
    (_ALNUM + "{32,250}", "flutterwave-key FLWSECK-; adobe-key p8e-"),
    (_ALNUM + "{28,250}", "replicate-token r8_; huggingface-token hf_ api_org_"),
    (_ALNUM + "{28,250}", "github-token ghp_ gho_ ghu_ ghs_ ghr_; npm-token npm_; runpod-key rpa_"),
    (_ALNUM + "{28,250}", "apify-token apify_api_; adafruit-key aio_; samsara-key samsara_api_"),
    (_ALNUM + "{28,250}", "xata-key xau_; zuplo-key zpka_"),
    (_ALNUM + "{28,250}", "api-key hbp_ nfc_ nfo_ nfb_ nfu_ tpuf_ m0- cxtp_ sk_prod_ bkct_"),
    # Holdfast's own: an id in front of 32 random bytes.
    (r"[0-9a-f]{12}_[A-Za-z0-9_\-]{43}", "holdfast-token hf_"),
    (r"(?:pt|sk)_[0-9a-fA-F]{32}_[0-9a-fA-F]{6,20}", "langsmith-key lsv2_"),
    (_WORD + "{24,250}", "tavily-key tvly-; supabase-key sb_secret_; vault-token hvs. hvr. hvb."),
    (_WORD + "{24,250}", "docker-token dckr_pat_ dckr_oat_"),
    (r"[0-9a-f]{48}(?![0-9a-f])", "elevenlabs-key sk_"),
    (r"[A-Za-z0-9_\-.]{20,400}", "gitlab-token glpat- glrt-; snyk-token snyk_uat."),
    (r"[A-Za-z0-9%\-]{20,250}", "slack-token xoxd-"),
    (_ALNUM + "{16,250}", "stripe-key sk_live_ rk_live_ sk_test_ rk_test_"),
    (r"[A-Za-z0-9+/=]{24,400}", "stripe-key whsec_; grafana-token glc_"),
    (_WORD + "{30,250}", "google-key AIza; heroku-key HRKU-; posthog-key phx_; fly-token fo1_"),
    (_WORD + "{30,250}", "figma-token figd_; yandex-key AQVN; ory-token ory_pat_"),
    (_WORD + "{30,250}", "newrelic-key NRII-"),
    (r"[A-Z0-9]{16}(?![A-Za-z0-9])", "aws-key-id AKIA ASIA ABIA ACCA"),
    (r"[A-Za-z0-9_~.\-]{31,40}", "azure-secret Q~"),
    (r"AgE[A-Za-z0-9_\-]{40,400}", "pypi-token pypi-"),
    (_HEX + "{48,250}", "rubygems-key rubygems_"),
    (r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}", "sendgrid-key SG."),
    (r"[0-9a-fA-F]{32}(?![A-Za-z0-9])", "twilio-key SK"),
    (r"[0-9a-f]{32}(?![A-Za-z0-9])", "mailgun-key key-; firecrawl-key fc-; api-key cu_"),
    (r"[0-9a-fA-F]{64}-[A-Za-z0-9]{16}", "brevo-key xkeysib-; sendinblue-key xsmtpsib-"),
    (r"[A-Za-z0-9]{8,10}_[A-Za-z0-9]{20,30}(?![A-Za-z0-9_])", "resend-key re_"),
    (_HEX + "{64,250}", "digitalocean-token dop_v1_ doo_v1_ dor_v1_; sentry-token sntryu_"),
    (_HEX + "{64,250}", "api-key s-s4t2af- s-s4t2ud- depot_project_ depot_org_ depot_user_"),
    (r"[0-9a-f]{32}(?:-\d{1,2})?(?![A-Za-z0-9])", "databricks-token dapi"),
    (r"[A-Za-z0-9]{43}(?![A-Za-z0-9])", "notion-token secret_"),
    (r"(?:v0_)?[0-9a-z]{40}", "supabase-key sbp_"),
    (r"[0-9a-fA-F]{32,250}", "shopify-token shpat_ shpss_ shpca_ shppa_"),
    (r"[0-9a-fA-F]{32,250}", "shippo-token shippo_live_ shippo_test_"),
    # A service token names its config between the prefix and the secret.
    (r"(?:[a-z0-9_\-]{2,40}\.)?[A-Za-z0-9]{40,48}", "doppler-token dp.st."),
    (r"[A-Za-z0-9+/=_\-]{40,500}", "sentry-token sntrys_; fly-token fm2_"),
    (r"1[A-Z0-9]{40,80}", "age-key AGE-SECRET-KEY-"),
    (r"[A-Za-z0-9_\-=]{40,300}", "terraform-token .atlasv1."),
    (r"[A-Za-z0-9_\-=]{40,300}", "duffel-token duffel_live_ duffel_test_; frameio-token fio-u-"),
    (r"[A-Za-z0-9_\-=]{40,300}", "bitbucket-token ATCTT3"),
    (r"(?:T3[A-Za-z0-9_\-=]{40,300}|[A-Za-z0-9_\-=]{100,300})", "atlassian-token ATAT"),
    (r"[A-Z0-9]{24,32}", "newrelic-key NRAK-"),
    (r"[0-9a-fA-F]{24}-[0-9a-fA-F]{34}", "postman-key PMAK-"),
    (_HEX + "{40,250}", "pulumi-token pul-; sonar-token squ_ sqp_ sqa_; e2b-key e2b_"),
    (r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}", "grafana-token glsa_"),
    (_ALNUM + "{36,250}", "netlify-token nfp_; prefect-key pnu_ pnb_; denodeploy-token ddp_"),
    (_ALNUM + "{36,250}", "buildkite-token bkat_"),
    (r"[A-Za-z0-9_\-.=]{32,64}", "planetscale-token pscale_tkn_ pscale_pw_"),
    (r"[a-z0-9]{40,250}", "buildkite-token bkua_; cerebras-key csk-; clojars-token CLOJARS_"),
    (r"[a-z0-9]{40,250}", "readme-key rdme_; api-key hcaik_ hcxik_ hcamk_ hcxmk_"),
    (r"[A-Za-z0-9]{18,30}_[0-9a-z]{40}", "circleci-token CCIPAT_; api-key CCIPRJ_"),
    (r"[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{8,50}", "tailscale-key tskey-"),
    (r"eyJ[A-Za-z0-9+/_\-]{100,1200}", "onepassword-token ops_"),
    (r"eyJ[A-Za-z0-9_\-]{40,200}\.[A-Za-z0-9_\-]{16,40}", "mapbox-token sk."),
    (r"[A-Za-z0-9]{20,40}(?![A-Za-z0-9_])", "fireworks-key fw_"),
    (_WORD + "{50,250}", "nvidia-key nvapi-; yandex-token y0_; jina-key jina_"),
    (_UUID, "plaid-token access-production- access-sandbox- access-development-"),
    (_UUID, "hubspot-token pat-na1- pat-eu1- pat-na2-; launchdarkly-key sdk- api-"),
    (_UUID, "wakatime-key waka_; langfuse-key sk-lf-; api-key xaat- xapt- ctx7sk-"),
    (_WORD + "{100,250}", "dropbox-token sl.; firebase-key APA91b"),
    (r"[A-Za-z0-9_\-.]{40,80}", "typeform-token tfp_"),
    (r"[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}", "dynatrace-token dt0c01. dt0s16."),
    (r"[A-Za-z0-9]{28,60}(?![A-Za-z0-9+/])", "bitbucket-token ATBB"),
    (r"[A-Za-z0-9]{56,80}(?![A-Za-z0-9+/])", "jfrog-token AKCp cmVmdGtu"),
    (r"[A-Za-z0-9+/]{100,200}={0,2}", "aws-bedrock-key ABSK"),
    (r"[A-Za-z0-9]{140,300}(?![A-Za-z0-9+/=])", "facebook-token EAA"),
    (_ALNUM + "{50,250}", "trello-token ATTA; easypost-key EZAK EZTK"),
    (_WORD + "{58,250}", "square-token EAAA; api-key vk1.a."),
    (r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9+/=])", "alibaba-key-id LTAI"),
    (_ALNUM + "{24,250}", "render-key rnd_; anyscale-key esecret_"),
    (r"[0-9a-f]{24}-[0-9a-f]{100,160}", "cloudflare-key v1.0-"),
    (r"(?:[A-Za-z0-9]{5,16}_)?[0-9a-fA-F]{40}|[A-Za-z0-9]{60,70}", "sourcegraph-token sgp_"),
    (_HEX + "{32,250}", "calcom-key cal_live_; inngest-key signkey-prod-"),
    (_ALNUM + "{20,250}", "trigger-key tr_prod_; valtown-token vtwn_"),
    (_ALNUM + "{20,250}", "facebook-token EAACEdEose0cBA"),
    (r"[A-Za-z0-9+/]{20,1200}={0,2}", "aws-bedrock-key bedrock-api-key-"),
    (r"[a-z0-9]{40,60}-[a-z0-9]{20,30}", "docker-token SWMTKN-1-"),
    (r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}", "onepassword-token A3-"),
    (r"[A-Z0-9]{26}(?![A-Za-z0-9])", "octopus-key API-"),
    (r"[A-Za-z0-9+/@_\-=]{40,60}", "atlassian-token BBDC-; docker-token SWMKEY-1-"),
    (r"[A-Za-z0-9]{20,40}(?::[0-9a-f]{64})?", "datastax-token AstraCS:"),
    (r"(?:user_)?[A-Za-z0-9+/]{80,180}={0,2}", "devin-key apk_"),
    (r"[A-Za-z0-9_\-=.]{66}(?![A-Za-z0-9_\-])", "sendgrid-key SG."),
    # The id of an account, and its token beside it.
    (r"[0-9a-f]{32}[\"'`:, |\\]{1,8}[0-9a-f]{32}(?![0-9a-f])", "twilio-token AC"),
    # A bot id precedes it; the engine takes that into the match.
    (r"[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])", "telegram-token :AA"),
    (r"e_[A-Za-z0-9]{14,40}", "razorpay-key rzp_liv"),
    (r"[A-Za-z0-9]{16}\$[0-9a-f]{32}", "paypal-token access_token$production$"),
    (r"[A-Za-z0-9+/]{44,60}={0,2}(?![A-Za-z0-9+/])", "intercom-token dG9rOm"),
    (r"[A-Za-z0-9]{32}(?![A-Za-z0-9+/])", "tencent-key-id AKID"),
    (r"[A-Za-z0-9_\-]{40,50}\.[A-Za-z0-9_\-]{40,50}", "ory-token ory_at_ ory_rt_ ory_ac_"),
    (r"[A-Za-z0-9_\-]{20,400}[=]{0,2}\.[A-Za-z0-9_\-]{86}", "yandex-token t1."),
    (_UUID + r"\.[0-9a-f]{32}(?:\.[0-9a-f]{32})?", "infisical-token st."),
    (r"[0-9a-f]{64}(?![0-9a-f])", "cursor-key key_"),
    (r"[A-Za-z0-9]{42,60}(?![A-Za-z0-9_\-])", "api-key ion_ cog_ csa_"),
    (r"[0-9a-f]{30}[A-Za-z0-9]{6}(?![A-Za-z0-9_\-])", "api-key csa_"),
    (r"[A-Za-z0-9]{16}(?![A-Za-z0-9_\-])", "api-key sm_aat_ sm_pat_ sm_sat_"),
    (r"[a-z0-9]{20,30}_[A-Za-z0-9]{20,30}_[A-Za-z0-9]{3}", "api-key pdl_live_apikey_"),
    (r"[A-Za-z0-9_\-]{20,24}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}", "api-key pat."),
    (r"[a-z]{3}_[a-z0-9]{60,120}", "api-key os_v2_"),
    (r"[0-9a-f]{40}(?![A-Za-z0-9_\-])", "api-key dsp_ opk_ cs_ ck_"),
    (r"[0-9a-f]{32}\.[0-9a-f]{32}(?![A-Za-z0-9_\-])", "api-key 1000."),
    (r"[A-Za-z0-9]{40,60}(?![A-Za-z0-9_\-])", "api-key secret_admin_ secret- secret-live-"),
    (r"[A-Za-z0-9_\-]{16,60}(?![A-Za-z0-9_\-])", "api-key AVNS_ bb_live_ bb_test_"),
    (r"(?:[a-z0-9]{7}-){3}[a-z0-9]{7}", "api-key sk-helicone-"),
    (r"[0-9]{6,9}_[A-Z0-9]{32}(?![A-Za-z0-9_])", "api-key pk_"),
    (r"(?=[A-Za-z]{0,29}[0-9])[A-Za-z0-9]{30,40}(?![A-Za-z0-9_\-])", "api-key live_"),
    (
        r"(?=[A-Za-z_\-]{0,40}[0-9])(?=[a-z0-9_\-]{0,40}[A-Z])[A-Za-z0-9_\-]{43}"
        r"(?![A-Za-z0-9_\-])",
        "api-key pa-",
    ),
)
# label, anchor, pattern of what follows
VENDOR = tuple(
    (label, anchor, tail)
    for tail, vendors in _VENDORS
    for label, *anchors in map(str.split, vendors.split(";"))
    for anchor in anchors
)

# Anchors of secrets that the engine reads by code rather than by one pattern.
JWT_ANCHOR = "eyJ"
PEM_ANCHOR = "-----BEGIN "
PPK_ANCHOR = "Private"
JWK_ANCHOR = "kty"
URL_ANCHOR = "://"
SAS_ANCHORS = ("sig=", "-Signature=")
WEBHOOK_ANCHORS: tuple[tuple[str, str], ...] = (
    ("hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9_/\-]{20,160}"),
    ("/api/webhooks/", r"\d{15,22}/[A-Za-z0-9_\-]{40,100}"),
    (".webhook.office.com/", r"webhookb2/[A-Za-z0-9\-@/]{60,300}"),
    ("hooks.zapier.com/", r"hooks/catch/\d{4,12}/[A-Za-z0-9]{5,20}"),
)

# Looked for in lower-cased text: a name that contains one of these words may name a secret.
# What a name that is but "key" must be set to.
BARE_KEY = r"\\{0,7}[\"']?[ ]?[:=][ ]?\\{0,7}[\"']?(?=[a-z]{0,23}[0-9])[a-z0-9]{30,80}(?![\w/.+\-])"
# The words, and how they go on in the names that count; `bypass`, `text`, a bare `key` do not.
WORD_TAILS = {
    "pass": r"(?=w|phrase|code|[\\\"'`=:%\[]|[ ]=[ ]|(?<=[a-z0-9_\-]pass)[^a-z])",
    "pw": r"(?=d|[^a-z])",
    "secret": r"(?!s)",
    "tok": r"(?=en(?!s)|(?<=[a-z_\-]tok)[^a-z])",
    # In a sentence too: the API key, an access key, the secret key.
    "key": r"(?:(?<=[a-z0-9_.\-]key)|(?<=api key)|(?<=access key)|(?<=secret key)"
    rf"|(?={BARE_KEY}))(?!s|board|word|code|name|path)",
    "credential": r"",
    "psk": r"(?=[\\\"'=: ])",
    "auth": r"(?=orization|[\\\"'`\]\s]{0,16}[=:])",
    "_pat": r"(?![a-z0-9_\-])",
}
WORDS = tuple(WORD_TAILS)

# What a password is called in other languages, and commands that take one without an option.
# Looked for in lower-cased text (A to Z only), in archives as UTF-8.
FOREIGN: tuple[str, ...] = (
    *("kennwort", "passwort", "contraseña", "senha", "wachtwoord", "hasło", "парол", "şifre"),
    *("heslo", "lösenord", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호", "كلمة المرور"),
    *("كلمة السر", "पासवर्ड", "api-schlüssel", "parola", "clave", "clé d'api", "mật khẩu"),
    *("adgangskode", "jelszó", "סיסמה", "συνθηματικό", "κωδικός", "kata sandi"),
    *("passord", "лозинка", "lozinka", "salasana", "mdp :", "mdp:", "비번", "رمز عبور"),
    "رمز المرور",
    *("รหัสผ่าน", "palavra-passe", "chiave api", "chave de api", "clé api", "ключ api"),
    *("klucz api", "api-nyckel", "api-sleutel", "api anahtarı", "apiキー", "api 키", "密钥"),
)
# Words or codes follow that are a secret by themselves.
NUMBER_WORDS: tuple[str, ...] = (
    *("mnemonic", "seed phrase", "seed_phrase", "recovery phrase", "secret phrase"),
    *("backup phrase", "seed words", "recovery code", "backup code", "scratch code"),
)
# Looked for in lower-cased text: a command, a header or a sentence says that a secret follows.
PHRASES: tuple[str, ...] = (
    *("bearer ", "basic ", "passw", "passphrase", "passcode", "pass is", "credentials", "creds"),
    *("cookie", "kty", "private-lines", "private-mac", "private-hash", "admin:", "root:"),
    *("de passe", "psk", "kind: secret", "vault_pass", *NUMBER_WORDS),
    "-us",  # a data centre of Mailchimp, behind its key
    # Terminal codes, which may stand inside anything.
    *("\x1b", "u001b", "x1b[", "33[", "\\e["),
)
# A password told in a sentence has one of these, or a letter in the wrong case.
TELLING_SIGNS = "0123456789!@#$%^&*~?"
