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

# (label, anchor, pattern of what follows the anchor)
VENDOR: tuple[tuple[str, str, str], ...] = (
    ("anthropic-key", "sk-ant-", r"[A-Za-z0-9_\-]{20,200}"),
    ("openai-key", "sk-proj-", r"[A-Za-z0-9_\-]{20,250}"),
    ("openai-key", "sk-svcacct-", r"[A-Za-z0-9_\-]{20,250}"),
    ("openai-key", "sk-admin-", r"[A-Za-z0-9_\-]{20,250}"),
    ("openrouter-key", "sk-or-", r"v1-[0-9a-f]{32,128}"),
    # Also DeepSeek, Moonshot, LiteLLM and others that borrowed the prefix.
    ("api-key", "sk-", r"(?:[a-z]{2,8}-)?[A-Za-z0-9]{20,128}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,80}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{40,100}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{32,80}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{30,60}"),
    ("huggingface-token", "hf_", r"[A-Za-z0-9]{30,60}"),
    # Holdfast's own: an id in front of 32 random bytes.
    ("holdfast-token", "hf_", r"[0-9a-f]{12}_[A-Za-z0-9_\-]{43}"),
    ("huggingface-token", "api_org_", r"[A-Za-z0-9]{30,60}"),
    ("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{6,20}"),
    ("tavily-key", "tvly-", r"[A-Za-z0-9\-]{28,80}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,100}"),
    ("elevenlabs-key", "sk_", r"[0-9a-f]{48}(?![0-9a-f])"),
    ("github-token", "ghp_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "gho_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "ghu_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "ghs_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "ghr_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{40,255}"),
    ("gitlab-token", "glpat-", r"[A-Za-z0-9_\-.]{20,300}"),
    ("gitlab-token", "gldt-", r"[A-Za-z0-9_\-]{20,64}"),
    ("gitlab-token", "glrt-", r"[A-Za-z0-9_\-.]{20,300}"),
    ("gitlab-token", "glcbt-", r"[A-Za-z0-9_\-]{20,64}"),
    ("gitlab-token", "glptt-", r"[A-Za-z0-9_\-]{20,64}"),
    ("gitlab-token", "glsoat-", r"[A-Za-z0-9_\-]{20,64}"),
    ("gitlab-token", "gloas-", r"[A-Za-z0-9_\-]{20,80}"),
    ("slack-token", "xoxb-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxp-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxa-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxr-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxs-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxc-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxd-", r"[A-Za-z0-9%\-]{20,250}"),
    ("slack-token", "xoxe-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxe.", r"xox[bp]-[A-Za-z0-9\-]{20,250}"),
    ("slack-token", "xapp-", r"[A-Za-z0-9\-]{20,200}"),
    ("stripe-key", "sk_live_", r"[A-Za-z0-9]{16,250}"),
    ("stripe-key", "rk_live_", r"[A-Za-z0-9]{16,250}"),
    ("stripe-key", "sk_test_", r"[A-Za-z0-9]{16,250}"),
    ("stripe-key", "rk_test_", r"[A-Za-z0-9]{16,250}"),
    ("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24,100}"),
    ("square-token", "sq0atp-", r"[A-Za-z0-9_\-]{22,60}"),
    ("square-token", "sq0csp-", r"[A-Za-z0-9_\-]{40,60}"),
    ("google-key", "AIza", r"[A-Za-z0-9_\-]{35,60}"),
    ("google-token", "ya29.", r"[A-Za-z0-9_\-]{20,500}"),
    ("google-secret", "GOCSPX-", r"[A-Za-z0-9_\-]{20,60}"),
    ("aws-key-id", "AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws-key-id", "ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("azure-secret", "8Q~", r"[A-Za-z0-9_~.\-]{31,40}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{30,80}"),
    ("pypi-token", "pypi-", r"AgE[A-Za-z0-9_\-]{40,400}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("brevo-key", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "re_", r"[A-Za-z0-9]{8,10}_[A-Za-z0-9]{20,30}(?![A-Za-z0-9_])"),
    ("digitalocean-token", "dop_v1_", r"[0-9a-f]{64}"),
    ("digitalocean-token", "doo_v1_", r"[0-9a-f]{64}"),
    ("digitalocean-token", "dor_v1_", r"[0-9a-f]{64}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d{1,2})?(?![A-Za-z0-9])"),
    ("linear-key", "lin_api_", r"[A-Za-z0-9]{32,64}"),
    ("linear-key", "lin_oauth_", r"[A-Za-z0-9]{32,80}"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,60}"),
    ("supabase-key", "sbp_", r"(?:v0_)?[0-9a-f]{40}"),
    ("supabase-key", "sb_secret_", r"[A-Za-z0-9_\-]{24,64}"),
    ("shopify-token", "shpat_", r"[0-9a-fA-F]{32,40}"),
    ("shopify-token", "shpss_", r"[0-9a-fA-F]{32,40}"),
    ("shopify-token", "shpca_", r"[0-9a-fA-F]{32,40}"),
    ("shopify-token", "shppa_", r"[0-9a-fA-F]{32,40}"),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_\-]{36,80}"),
    ("vault-token", "hvs.", r"[A-Za-z0-9_\-]{24,250}"),
    ("vault-token", "hvb.", r"[A-Za-z0-9_\-]{24,350}"),
    ("vault-token", "hvr.", r"[A-Za-z0-9_\-]{24,250}"),
    ("docker-token", "dckr_pat_", r"[A-Za-z0-9_\-]{24,60}"),
    ("docker-token", "dckr_oat_", r"[A-Za-z0-9_\-]{24,60}"),
    ("doppler-token", "dp.pt.", r"[A-Za-z0-9]{40,48}"),
    ("doppler-token", "dp.ct.", r"[A-Za-z0-9]{40,48}"),
    ("doppler-token", "dp.sa.", r"[A-Za-z0-9]{40,48}"),
    # A service token names its config between the prefix and the secret.
    ("doppler-token", "dp.st.", r"(?:[a-z0-9_\-]{2,40}\.)?[A-Za-z0-9]{40,48}"),
    ("sentry-token", "sntrys_", r"[A-Za-z0-9+/=_\-]{40,400}"),
    ("sentry-token", "sntryu_", r"[0-9a-f]{64}"),
    ("posthog-key", "phx_", r"[A-Za-z0-9_\-]{30,60}"),
    ("fly-token", "fo1_", r"[A-Za-z0-9_\-]{30,80}"),
    ("fly-token", "fm2_", r"[A-Za-z0-9+/=_\-]{60,500}"),
    ("age-key", "AGE-SECRET-KEY-", r"1[A-Z0-9]{40,80}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9_=\-]{60,80}"),
    ("atlassian-token", "ATATT3", r"[A-Za-z0-9_\-=]{40,300}"),
    ("figma-token", "figd_", r"[A-Za-z0-9_\-]{36,60}"),
    ("newrelic-key", "NRAK-", r"[A-Z0-9]{24,32}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/=]{32,400}"),
    ("netlify-token", "nfp_", r"[A-Za-z0-9]{36,60}"),
    ("planetscale-token", "pscale_tkn_", r"[A-Za-z0-9_\-.=]{32,64}"),
    ("planetscale-token", "pscale_pw_", r"[A-Za-z0-9_\-.=]{32,64}"),
    ("buildkite-token", "bkua_", r"[0-9a-z]{40}"),
    ("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{18,30}_[0-9a-f]{40}"),
    ("sonar-token", "squ_", r"[0-9a-f]{40}"),
    ("sonar-token", "sqp_", r"[0-9a-f]{40}"),
    ("tailscale-key", "tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,50}"),
    ("neon-key", "napi_", r"[a-z0-9]{48,80}"),
    ("contentful-token", "CFPAT-", r"[A-Za-z0-9_\-]{40,60}"),
    ("onepassword-token", "ops_", r"eyJ[A-Za-z0-9_\-]{100,500}"),
    ("mapbox-token", "sk.", r"eyJ[A-Za-z0-9_\-]{40,200}\.[A-Za-z0-9_\-]{16,40}"),
    ("gitlab-token", "glft-", r"[A-Za-z0-9_\-]{20,64}"),
    ("gitlab-token", "glimt-", r"[A-Za-z0-9_\-]{20,64}"),
    ("gitlab-token", "glagent-", r"[A-Za-z0-9_\-]{40,64}"),
    ("fireworks-key", "fw_", r"[A-Za-z0-9]{20,40}(?![A-Za-z0-9_])"),
    ("cerebras-key", "csk-", r"[a-z0-9]{40,60}"),
    ("nvidia-key", "nvapi-", r"[A-Za-z0-9_\-]{50,100}"),
    ("firecrawl-key", "fc-", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("vercel-token", "vcp_", r"[A-Za-z0-9]{40,80}"),
    ("vercel-token", "vck_", r"[A-Za-z0-9]{40,80}"),
    ("clojars-token", "CLOJARS_", r"[0-9a-f]{60}"),
    ("plaid-token", "access-production-", _UUID),
    ("hubspot-token", "pat-na1-", _UUID),
    ("hubspot-token", "pat-eu1-", _UUID),
    ("launchdarkly-key", "sdk-", _UUID),
    ("dropbox-token", "sl.", r"[A-Za-z0-9_\-]{120,250}"),
    ("shippo-token", "shippo_live_", r"[0-9a-f]{40}"),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_\-.]{40,80}"),
    ("readme-key", "rdme_", r"[a-z0-9]{60,80}"),
    ("duffel-token", "duffel_live_", r"[A-Za-z0-9_\-]{40,60}"),
    ("dynatrace-token", "dt0c01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("frameio-token", "fio-u-", r"[A-Za-z0-9_\-]{60,80}"),
    ("yandex-token", "y0_", r"[A-Za-z0-9_\-]{50,80}"),
    ("prefect-key", "pnu_", r"[A-Za-z0-9]{36}"),
    ("bitbucket-token", "ATBB", r"[A-Za-z0-9]{28,60}(?![A-Za-z0-9+/])"),
    ("jfrog-token", "AKCp", r"[A-Za-z0-9]{60,80}(?![A-Za-z0-9+/])"),
    ("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,200}={0,2}"),
    ("firebase-key", "APA91b", r"[A-Za-z0-9_\-]{100,200}"),
    ("facebook-token", "EAA", r"[A-Za-z0-9]{140,300}(?![A-Za-z0-9+/=])"),
    # A bot id precedes it; the engine takes that into the match.
    ("telegram-token", ":AA", r"[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])"),
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

# Looked for in lower-cased text: a name that contains one of these may name a secret.
WORDS: tuple[str, ...] = ("pass", "pw", "secret", "token", "key", "credential", "auth", "_pat")

# Looked for in lower-cased text: a command, a header or a sentence says that a secret follows.
PHRASES: tuple[str, ...] = (
    "bearer ",
    "basic ",
    "identified by",
    "passw",
    "passphrase",
    "passcode",
    "pass is",
    "credentials",
    "creds",
    "cookie",
    "kty",
    "private-lines",
    "private-mac",
    "private-hash",
    "admin:",
    "root:",
    "rabbitmqctl",
    "requirepass",
    "de passe",
    ":thin:",
    "auth=(",
    "auth(",
    "with-token",
    "secret put",
    "kind: secret",
    "mnemonic",
    "seed phrase",
    "seed_phrase",
    "sudo -s ",
    # Terminal codes, which may stand inside anything.
    "\x1b",
    "u001b",
    "x1b[",
    "33[",
    "\\e[",
)
# One of these after a space and a dash may be an option that takes a password.
OPTION_LETTERS = "pPawsUNkubh"
LONG_OPTIONS = (
    "value",
    "body",
    "user",
    "proxy-user",
    "auth",
    "creds",
    "src-creds",
    "dest-creds",
    "password-stdin",
)
# A password told in a sentence has one of these, or a letter in the wrong case.
TELLING_SIGNS = "0123456789!@#$%^&*~?"
