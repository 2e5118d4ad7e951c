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

# (label, anchors, pattern of what follows one of them)
_VENDORS: tuple[tuple[str, str, str], ...] = (
    ("anthropic-key", "sk-ant-", r"[A-Za-z0-9_\-]{20,200}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"[A-Za-z0-9_\-]{20,250}"),
    ("openrouter-key", "sk-or-", r"v1-[0-9a-f]{32,128}"),
    # Also DeepSeek, Moonshot, LiteLLM and others that borrowed the prefix.
    ("api-key", "sk-", r"(?:[a-z]{2,8}-)?[A-Za-z0-9]{20,128}"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,80}"),
    ("xai-key", "xai-", r"[A-Za-z0-9_\-]{40,120}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{32,80}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{30,60}"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,60}"),
    # Holdfast's own: an id in front of 32 random bytes.
    ("holdfast-token", "hf_", r"[0-9a-f]{12}_[A-Za-z0-9_\-]{43}"),
    ("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-fA-F]{32}_[0-9a-fA-F]{6,20}"),
    ("tavily-key", "tvly-", r"[A-Za-z0-9\-]{28,80}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,100}"),
    ("elevenlabs-key", "sk_", r"[0-9a-f]{48}(?![0-9a-f])"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{40,255}"),
    ("gitlab-token", "glpat- glrt-", r"[A-Za-z0-9_\-.]{20,300}"),
    (
        "gitlab-token",
        "gldt- glcbt- glptt- glsoat- glft- glimt- glffct- glwt-",
        r"[A-Za-z0-9_\-]{20,64}",
    ),
    ("gitlab-token", "gloas-", r"[A-Za-z0-9_\-]{20,80}"),
    ("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxe- xapp-", r"[A-Za-z0-9\-]{20,200}"),
    ("slack-token", "xoxd-", r"[A-Za-z0-9%\-]{20,250}"),
    ("slack-token", "xoxe.", r"xox[bp]-[A-Za-z0-9\-]{20,250}"),
    ("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[A-Za-z0-9]{16,250}"),
    ("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24,100}"),
    ("square-token", "sq0atp-", r"[A-Za-z0-9_\-]{22,60}"),
    ("square-token", "sq0csp-", r"[A-Za-z0-9_\-]{40,60}"),
    ("google-key", "AIza", r"[A-Za-z0-9_\-]{35,60}"),
    ("google-token", "ya29.", r"[A-Za-z0-9_\-]{20,500}"),
    ("google-secret", "GOCSPX-", r"[A-Za-z0-9_\-]{20,60}"),
    ("aws-key-id", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("azure-secret", "Q~", r"[A-Za-z0-9_~.\-]{31,40}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{30,80}"),
    ("pypi-token", "pypi-", r"AgE[A-Za-z0-9_\-]{40,400}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}"),
    ("twilio-key", "SK", r"[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("brevo-key", "xkeysib-", r"[0-9a-fA-F]{64}-[A-Za-z0-9]{16}"),
    ("resend-key", "re_", r"[A-Za-z0-9]{8,10}_[A-Za-z0-9]{20,30}(?![A-Za-z0-9_])"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d{1,2})?(?![A-Za-z0-9])"),
    ("linear-key", "lin_api_", r"[A-Za-z0-9]{32,64}"),
    ("linear-key", "lin_oauth_", r"[A-Za-z0-9]{32,80}"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,60}"),
    ("supabase-key", "sbp_", r"(?:v0_)?[0-9a-z]{40}"),
    ("supabase-key", "sb_secret_", r"[A-Za-z0-9_\-]{24,64}"),
    ("shopify-token", "shpat_ shpss_ shpca_ shppa_", r"[0-9a-fA-F]{32,40}"),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_\-]{36,80}"),
    ("vault-token", "hvs. hvr.", r"[A-Za-z0-9_\-]{24,250}"),
    ("vault-token", "hvb.", r"[A-Za-z0-9_\-]{24,350}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_\-]{24,60}"),
    ("doppler-token", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9]{40,48}"),
    # A service token names its config between the prefix and the secret.
    ("doppler-token", "dp.st.", r"(?:[a-z0-9_\-]{2,40}\.)?[A-Za-z0-9]{40,48}"),
    ("sentry-token", "sntrys_", r"[A-Za-z0-9+/=_\-]{40,400}"),
    ("sentry-token", "sntryu_", r"[0-9a-f]{64}"),
    ("posthog-key", "phx_", r"[A-Za-z0-9_\-]{30,60}"),
    ("fly-token", "fo1_", r"[A-Za-z0-9_\-]{30,80}"),
    ("fly-token", "fm2_", r"[A-Za-z0-9+/=_\-]{60,500}"),
    ("age-key", "AGE-SECRET-KEY-", r"1[A-Z0-9]{40,80}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9_=\-]{60,80}"),
    ("atlassian-token", "ATAT", r"(?:T3[A-Za-z0-9_\-=]{40,300}|[A-Za-z0-9_\-=]{100,300})"),
    ("figma-token", "figd_", r"[A-Za-z0-9_\-]{36,60}"),
    ("newrelic-key", "NRAK-", r"[A-Z0-9]{24,32}"),
    ("postman-key", "PMAK-", r"[0-9a-fA-F]{24}-[0-9a-fA-F]{34}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/=]{32,400}"),
    ("netlify-token", "nfp_", r"[A-Za-z0-9]{36,60}"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_", r"[A-Za-z0-9_\-.=]{32,64}"),
    ("buildkite-token", "bkua_", r"[0-9a-z]{40}"),
    ("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{18,30}_[0-9a-z]{40}"),
    ("sonar-token", "squ_ sqp_ sqa_", r"[0-9a-f]{40}"),
    ("tailscale-key", "tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{8,50}"),
    ("neon-key", "napi_", r"[A-Za-z0-9]{48,80}"),
    ("contentful-token", "CFPAT-", r"[A-Za-z0-9_\-]{40,60}"),
    ("onepassword-token", "ops_", r"eyJ[A-Za-z0-9+/_\-]{100,1200}"),
    ("mapbox-token", "sk.", r"eyJ[A-Za-z0-9_\-]{40,200}\.[A-Za-z0-9_\-]{16,40}"),
    ("gitlab-token", "glagent-", r"[A-Za-z0-9_\-]{40,64}"),
    ("fireworks-key", "fw_", r"[A-Za-z0-9]{20,40}(?![A-Za-z0-9_])"),
    ("cerebras-key", "csk-", r"[a-z0-9]{40,60}"),
    ("nvidia-key", "nvapi-", r"[A-Za-z0-9_\-]{50,100}"),
    ("firecrawl-key", "fc-", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("vercel-token", "vcp_ vck_ vca_ vcr_", r"[A-Za-z0-9_\-]{40,80}"),
    ("clojars-token", "CLOJARS_", r"[0-9a-z]{60}"),
    ("plaid-token", "access-production- access-sandbox- access-development-", _UUID),
    ("hubspot-token", "pat-na1- pat-eu1- pat-na2-", _UUID),
    ("launchdarkly-key", "sdk- api-", _UUID),
    ("dropbox-token", "sl.", r"[A-Za-z0-9_\-]{120,250}"),
    ("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-fA-F]{40}"),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_\-.]{40,80}"),
    ("readme-key", "rdme_", r"[a-z0-9]{60,80}"),
    ("duffel-token", "duffel_live_ duffel_test_", r"[A-Za-z0-9_\-=]{40,60}"),
    ("dynatrace-token", "dt0c01.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    ("frameio-token", "fio-u-", r"[A-Za-z0-9_\-=]{60,80}"),
    ("yandex-token", "y0_", r"[A-Za-z0-9_\-]{50,80}"),
    ("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    ("bitbucket-token", "ATBB", r"[A-Za-z0-9]{28,60}(?![A-Za-z0-9+/])"),
    ("jfrog-token", "AKCp", r"[A-Za-z0-9]{60,80}(?![A-Za-z0-9+/])"),
    ("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,200}={0,2}"),
    ("firebase-key", "APA91b", r"[A-Za-z0-9_\-]{100,200}"),
    ("facebook-token", "EAA", r"[A-Za-z0-9]{140,300}(?![A-Za-z0-9+/=])"),
    ("bitbucket-token", "ATCTT3", r"[A-Za-z0-9_\-=]{60,300}"),
    ("trello-token", "ATTA", r"[0-9A-Za-z]{60,80}"),
    ("square-token", "EAAA", r"[A-Za-z0-9_\-]{58,70}"),
    ("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{50,60}"),
    ("alibaba-key-id", "LTAI", r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9+/=])"),
    ("yandex-key", "AQVN", r"[A-Za-z0-9_\-]{34,40}"),
    ("render-key", "rnd_", r"[A-Za-z0-9]{24,40}"),
    ("snyk-token", "snyk_uat.", r"[A-Za-z0-9_\-.]{32,400}"),
    ("e2b-key", "e2b_", r"[0-9a-f]{40}"),
    ("runpod-key", "rpa_", r"[A-Za-z0-9]{28,60}"),
    ("apify-token", "apify_api_", r"[A-Za-z0-9]{30,50}"),
    ("adafruit-key", "aio_", r"[A-Za-z0-9]{28}"),
    ("iconik-key", "ico-", r"[A-Za-z0-9]{32}"),
    ("flutterwave-key", "FLWSECK-", r"[A-Za-z0-9]{32}"),
    ("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,160}"),
    ("cloudflare-token", "cfut_ cfat_", r"[A-Za-z0-9]{40,60}"),
    ("sourcegraph-token", "sgp_", r"(?:[A-Za-z0-9]{5,16}_)?[0-9a-fA-F]{40}|[A-Za-z0-9]{60,70}"),
    ("jina-key", "jina_", r"[A-Za-z0-9_\-]{50,80}"),
    ("calcom-key", "cal_live_", r"[0-9a-f]{32}"),
    ("trigger-key", "tr_prod_", r"[A-Za-z0-9]{20,40}"),
    ("inngest-key", "signkey-prod-", r"[0-9a-f]{32,64}"),
    ("sendinblue-key", "xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("wakatime-key", "waka_", _UUID),
    ("ory-token", "ory_pat_", r"[A-Za-z0-9_\-]{32,80}"),
    ("newrelic-key", "NRII-", r"[A-Za-z0-9_\-]{32}"),
    ("openshift-token", "sha256~", r"[A-Za-z0-9_\-]{43}"),
    ("denodeploy-token", "ddp_", r"[A-Za-z0-9]{36}"),
    ("adobe-key", "p8e-", r"[A-Za-z0-9]{32}"),
    ("polar-token", "polar_oat_", r"[A-Za-z0-9_\-]{20,100}"),
    ("ramp-key", "ramp_sec_", r"[A-Za-z0-9]{40,60}"),
    ("samsara-key", "samsara_api_", r"[A-Za-z0-9]{28,40}"),
    ("thunderstore-token", "tss_", r"[A-Za-z0-9_\-]{20,60}"),
    ("valtown-token", "vtwn_", r"[A-Za-z0-9]{20,60}"),
    ("wandb-key", "wandb_v1_", r"[A-Za-z0-9_]{20,100}"),
    ("xata-key", "xau_", r"[A-Za-z0-9]{30,60}"),
    ("zuplo-key", "zpka_", r"[A-Za-z0-9]{30,60}"),
    ("sentry-token", "sntrya_", r"[A-Za-z0-9]{60,70}"),
    ("posthog-key", "phs_", r"[A-Za-z0-9]{40,60}"),
    ("anyscale-key", "esecret_", r"[A-Za-z0-9]{24,60}"),
    ("dynatrace-token", "dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    ("langfuse-key", "sk-lf-", _UUID),
    ("buildkite-token", "bkat_", r"[A-Za-z0-9]{36,64}"),
    ("perplexity-key", "pplx_", r"[A-Za-z0-9]{40,60}"),
    ("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/]{20,1200}={0,2}"),
    ("docker-token", "SWMTKN-1-", r"[a-z0-9]{40,60}-[a-z0-9]{20,30}"),
    ("docker-token", "SWMKEY-1-", r"[A-Za-z0-9+/]{40,60}"),
    ("google-key", "AQ.Ab", r"[A-Za-z0-9_\-]{40,80}"),
    ("onepassword-token", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
    ("octopus-key", "API-", r"[A-Z0-9]{26}(?![A-Za-z0-9])"),
    ("atlassian-token", "BBDC-", r"[A-Za-z0-9+/@_\-=]{40,60}"),
    ("datastax-token", "AstraCS:", r"[A-Za-z0-9]{20,40}(?::[0-9a-f]{64})?"),
    ("devin-key", "apk_", r"(?:user_)?[A-Za-z0-9+/]{80,180}={0,2}"),
    ("openrouter-key", "sk-or-", r"v\d{1,5}-[A-Za-z0-9]{20,128}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_\-=.]{66}(?![A-Za-z0-9_\-])"),
    # The id of an account, and its token beside it.
    ("twilio-token", "AC", r"[0-9a-f]{32}[\"'`:, |\\]{1,8}[0-9a-f]{32}(?![0-9a-f])"),
    # A bot id precedes it; the engine takes that into the match.
    ("telegram-token", ":AA", r"[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])"),
    # Prefixes that say whose it is by themselves.
    (
        "api-key",
        (
            "AIK_CI_ AIK_CLIENT_ AIK_SECRET_ essu_ mlsn. mdb_sa_sk_ pina_ prf_ pscale_oauth_ "
            "polar_at_ polar_pat_ ucat_ vci_ tgp_v1_ persona_production_ nyk_ sk_car_ rootly_ "
            "api_live. api_live_ca. api_live_us. packagist_ort_ packagist_out_ packagist_acs_ "
            "packagist_ack_ bkar_ hmlg_ unkey_ ddo_ CCDB1_ lip_ ramp_id_ dvc_server_ "
            "mercury_production_ mergify_application_key_ xnd_production_ PMAT- gcntfy- llx- "
            "FLWSECK_TEST-"
        ),
        r"[A-Za-z0-9_\-]{20,250}",
    ),
    ("razorpay-key", "rzp_liv", r"e_[A-Za-z0-9]{14,40}"),
    ("paypal-token", "access_token$production$", r"[A-Za-z0-9]{16}\$[0-9a-f]{32}"),
    ("gitlab-token", "GR1348941", r"[A-Za-z0-9_\-]{20,60}"),
    ("jfrog-token", "cmVmdGtu", r"[A-Za-z0-9]{56,60}(?![A-Za-z0-9+/])"),
    ("intercom-token", "dG9rOm", r"[A-Za-z0-9+/]{44,60}={0,2}(?![A-Za-z0-9+/])"),
    ("facebook-token", "EAACEdEose0cBA", r"[A-Za-z0-9]{20,300}"),
    ("tencent-key-id", "AKID", r"[A-Za-z0-9]{32}(?![A-Za-z0-9+/])"),
    ("ory-token", "ory_at_ ory_rt_ ory_ac_", r"[A-Za-z0-9_\-]{40,50}\.[A-Za-z0-9_\-]{40,50}"),
    ("yandex-token", "t1.", r"[A-Za-z0-9_\-]{20,400}[=]{0,2}\.[A-Za-z0-9_\-]{86}"),
    ("infisical-token", "st.", _UUID + r"\.[0-9a-f]{32}(?:\.[0-9a-f]{32})?"),
    ("codeium-key", "sk-ws-01-", r"[A-Za-z0-9_\-]{40,120}"),
    ("cursor-key", "key_", r"[0-9a-f]{64}(?![0-9a-f])"),
    ("api-key", "ion_ cog_ csa_", r"[A-Za-z0-9]{42,60}(?![A-Za-z0-9_\-])"),
    ("api-key", "csa_", r"[0-9a-f]{30}[A-Za-z0-9]{6}(?![A-Za-z0-9_\-])"),
    ("api-key", "sm_aat_ sm_pat_ sm_sat_", r"[A-Za-z0-9]{16}(?![A-Za-z0-9_\-])"),
    ("api-key", "CCIPRJ_", r"[A-Za-z0-9]{18,30}_[0-9a-z]{40}"),
    ("api-key", "pdl_live_apikey_", r"[a-z0-9]{20,30}_[A-Za-z0-9]{20,30}_[A-Za-z0-9]{3}"),
    ("api-key", "pat.", r"[A-Za-z0-9_\-]{20,24}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("api-key", "tk-us-", r"[A-Za-z0-9\-]{40,60}"),
    ("api-key", "os_v2_", r"[a-z]{3}_[a-z0-9]{60,120}"),
    ("api-key", "s-s4t2af- s-s4t2ud- depot_project_ depot_org_ depot_user_", r"[0-9a-f]{64}"),
    ("api-key", "dsp_ opk_ cs_ ck_", r"[0-9a-f]{40}(?![A-Za-z0-9_\-])"),
    ("api-key", "cu_", r"[0-9a-f]{32}(?![A-Za-z0-9_\-])"),
    ("api-key", "1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}(?![A-Za-z0-9_\-])"),
    ("api-key", "hcaik_ hcxik_ hcamk_ hcxmk_", r"[a-z0-9]{40,70}"),
    ("api-key", "hbp_ nfc_ nfo_ nfb_ nfu_ tpuf_ m0- cxtp_ sk_prod_ bkct_", r"[A-Za-z0-9]{30,70}"),
    ("api-key", "secret_admin_ secret- secret-live-", r"[A-Za-z0-9]{40,60}(?![A-Za-z0-9_\-])"),
    ("api-key", "AVNS_ bb_live_ bb_test_", r"[A-Za-z0-9_\-]{16,60}(?![A-Za-z0-9_\-])"),
    ("api-key", "vk1.a.", r"[A-Za-z0-9_\-]{80,300}"),
    ("api-key", "sk-helicone-", r"(?:[a-z0-9]{7}-){3}[a-z0-9]{7}"),
    ("api-key", "pk_", r"[0-9]{6,9}_[A-Z0-9]{32}(?![A-Za-z0-9_])"),
    ("api-key", "xaat- xapt- ctx7sk-", _UUID),
    ("api-key", "live_", r"(?=[A-Za-z]{0,29}[0-9])[A-Za-z0-9]{30,40}(?![A-Za-z0-9_\-])"),
    (
        "api-key",
        "pa-",
        (
            r"(?=[A-Za-z_\-]{0,40}[0-9])(?=[a-z0-9_\-]{0,40}[A-Z])[A-Za-z0-9_\-]{43}"
            r"(?![A-Za-z0-9_\-])"
        ),
    ),
)
VENDOR = tuple(
    (label, anchor, tail) for label, anchors, tail in _VENDORS for anchor in anchors.split()
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
WORDS: tuple[str, ...] = (
    "pass",
    "pw",
    "secret",
    "tok",
    "key",
    "credential",
    "auth",
    "_pat",
    "psk",
)

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
