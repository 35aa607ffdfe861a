//! Secrets that were made up and planted, and things that only look like secrets.
//!
//! Bodies are plainly fake and put together here, so that no scanner takes this file for a leak.

use anemone_testkit::SlowGroup;
use proptest::prelude::*;

use crate::kinds::tests::KINDS;
use crate::{Scanner, SecretHit, redact, scan};

/// Repeats fake text up to a length.
fn fill(text: &str, length: usize) -> String {
    text.chars().cycle().take(length).collect()
}

fn hex(length: usize) -> String {
    fill("0123456789abcdef", length)
}

fn mixed(length: usize) -> String {
    fill("Fake7For2Tests0123456789", length)
}

fn upper(length: usize) -> String {
    fill("FAKE7FOR2TESTS", length)
}

fn lower(length: usize) -> String {
    fill("fake7for2tests", length)
}

/// Secrets that are known without a name: the kind, the prefix, the body.
fn prefixed() -> Vec<(&'static str, String)> {
    let plain = [
        ("openai_api_key", "sk-proj-", mixed(120)),
        ("openai_api_key", "sk-svcacct-", mixed(60)),
        ("openai_api_key", "sk-admin-", mixed(60)),
        ("openai_api_key", "sk-", format!("{}T3BlbkFJ{}", mixed(20), mixed(20))),
        ("anthropic_api_key", "sk-ant-", format!("api03-{}-{}AA", mixed(40), mixed(40))),
        ("anthropic_api_key", "sk-ant-", "SECRET-1".to_owned()),
        ("openrouter_api_key", "sk-or-", format!("v1-{}", hex(64))),
        ("openrouter_api_key", "sk-or-", "SECRET-ROOT".to_owned()),
        ("langfuse_secret_key", "sk-lf-", "01234567-89ab-cdef-0123-456789abcdef".to_owned()),
        ("sk_api_key", "sk-", hex(32)),
        ("sk_api_key", "sk-", "SECRETENV-0123456789".to_owned()),
        ("sk_api_key", "sk-", "SECRETHIDDEN-42".to_owned()),
        ("google_api_key", "AIza", mixed(35)),
        ("google_oauth_secret", "GOCSPX-", mixed(28)),
        ("google_oauth_token", "ya29.", mixed(80)),
        ("aws_access_key_id", "AKIA", upper(16)),
        ("aws_access_key_id", "ASIA", upper(16)),
        ("aws_bedrock_api_key", "ABSK", mixed(120)),
        ("alibaba_access_key_id", "LTAI", mixed(20)),
        ("tencent_secret_id", "AKID", mixed(32)),
        ("github_token", "ghp_", mixed(36)),
        ("github_token", "gho_", mixed(36)),
        ("github_token", "ghu_", mixed(36)),
        ("github_token", "ghs_", mixed(36)),
        ("github_token", "ghr_", mixed(76)),
        ("github_fine_grained_token", "github_pat_", format!("{}_{}", mixed(22), mixed(59))),
        ("gitlab_token", "glpat-", mixed(20)),
        ("gitlab_token", "glrt-", mixed(20)),
        ("gitlab_token", "gldt-", mixed(20)),
        ("gitlab_token", "glptt-", hex(40)),
        ("gitlab_token", "glpat-", format!("{}.01.{}", mixed(27), lower(9))),
        ("bitbucket_app_password", "ATBB", mixed(32)),
        ("atlassian_api_token", "ATATT3x", mixed(180)),
        ("slack_token", "xoxb-", format!("012345678901-012345678901-{}", mixed(24))),
        ("slack_token", "xoxp-", format!("012345678901-012345678901-{}", hex(32))),
        ("slack_token", "xapp-", format!("1-A0FAKE-012345678901-{}", hex(64))),
        ("stripe_secret_key", "sk_live_", mixed(24)),
        ("stripe_secret_key", "rk_live_", mixed(24)),
        ("stripe_secret_key", "sk_test_", mixed(99)),
        ("stripe_webhook_secret", "whsec_", mixed(32)),
        ("twilio_api_key", "SK", hex(32)),
        ("sendgrid_api_key", "SG.", format!("{}.{}", mixed(22), mixed(43))),
        ("mailgun_api_key", "key-", hex(32)),
        ("mailchimp_api_key", "", format!("{}-us21", hex(32))),
        ("brevo_api_key", "xkeysib-", format!("{}-{}", hex(64), mixed(16))),
        ("resend_api_key", "re_", format!("{}_{}", mixed(8), mixed(24))),
        ("npm_token", "npm_", mixed(36)),
        ("pypi_token", "pypi-", format!("AgEIcHlwaS5vcmc{}", mixed(140))),
        ("crates_io_token", "cio", mixed(32)),
        ("rubygems_token", "rubygems_", hex(48)),
        ("nuget_api_key", "oy2", lower(43)),
        ("clojars_token", "CLOJARS_", lower(60)),
        ("docker_hub_token", "dckr_pat_", mixed(27)),
        ("digitalocean_token", "dop_v1_", hex(64)),
        ("heroku_api_key", "HRKU-", format!("AA{}", mixed(58))),
        ("netlify_token", "nfp_", mixed(36)),
        ("vercel_token", "vcp_", mixed(56)),
        ("fly_token", "fm2_", mixed(200)),
        ("render_api_key", "rnd_", mixed(28)),
        ("hugging_face_token", "hf_", mixed(34)),
        ("replicate_token", "r8_", mixed(37)),
        ("groq_api_key", "gsk_", mixed(52)),
        ("xai_api_key", "xai-", mixed(80)),
        ("perplexity_api_key", "pplx-", mixed(48)),
        ("nvidia_api_key", "nvapi-", mixed(64)),
        ("cerebras_api_key", "csk-", lower(48)),
        ("together_api_key", "tgp_v1_", mixed(43)),
        ("fireworks_api_key", "fw_", mixed(24)),
        ("jina_api_key", "jina_", mixed(60)),
        ("tavily_api_key", "tvly-", format!("dev-{}", mixed(32))),
        ("firecrawl_api_key", "fc-", hex(32)),
        ("brave_search_api_key", "BSA", mixed(28)),
        ("pinecone_api_key", "pcsk_", format!("{}_{}", mixed(6), mixed(60))),
        ("elevenlabs_api_key", "sk_", hex(48)),
        ("langsmith_api_key", "lsv2_pt_", format!("{}_{}", hex(32), hex(10))),
        ("wandb_api_key", "wandb_v1_", mixed(60)),
        ("notion_token", "secret_", mixed(43)),
        ("notion_token", "ntn_", mixed(46)),
        ("linear_api_key", "lin_api_", mixed(40)),
        ("airtable_token", "pat", format!("{}.{}", mixed(14), hex(64))),
        ("figma_token", "figd_", mixed(40)),
        ("shopify_token", "shpat_", hex(32)),
        ("shopify_token", "shpss_", hex(32)),
        ("square_token", "sq0atp-", mixed(22)),
        ("square_token", "sq0csp-", mixed(43)),
        ("facebook_token", "EAAG", mixed(180)),
        ("paypal_token", "access_token$production$", format!("{}${}", lower(16), hex(32))),
        ("razorpay_key", "rzp_live_", mixed(14)),
        ("databricks_token", "dapi", format!("{}-2", hex(32))),
        ("vault_token", "hvs.", mixed(90)),
        ("tailscale_key", "tskey-", format!("auth-{}-{}", mixed(12), mixed(32))),
        ("cloudflare_api_token", "v1.0-", format!("{}-{}", hex(24), hex(146))),
        ("grafana_token", "glsa_", format!("{}_{}", mixed(32), hex(8))),
        ("new_relic_key", "NRAK-", upper(27)),
        ("sentry_token", "sntryu_", hex(64)),
        ("dynatrace_token", "dt0c01.", format!("{}.{}", upper(24), upper(64))),
        ("postman_api_key", "PMAK-", format!("{}-{}", hex(24), hex(34))),
        ("pulumi_token", "pul-", hex(40)),
        ("doppler_token", "dp.pt.", mixed(43)),
        ("planetscale_token", "pscale_tkn_", mixed(43)),
        ("supabase_token", "sbp_", hex(40)),
        ("supabase_token", "sb_secret_", mixed(31)),
        ("neon_api_key", "napi_", lower(64)),
        ("circleci_token", "CCIPAT_", format!("{}_{}", mixed(22), hex(40))),
        ("buildkite_token", "bkua_", hex(40)),
        ("contentful_token", "CFPAT-", mixed(43)),
        ("typeform_token", "tfp_", mixed(59)),
        ("readme_api_key", "rdme_", lower(70)),
        ("prefect_api_key", "pnu_", mixed(36)),
        ("flutterwave_key", "FLWSECK", format!("-{}-X", hex(32))),
        ("shippo_token", "shippo_live_", hex(40)),
        ("easypost_key", "EZAK", mixed(54)),
        ("dropbox_token", "sl.", mixed(136)),
        ("onepassword_token", "ops_eyJ", mixed(240)),
        ("openshift_token", "sha256~", mixed(43)),
        ("adobe_client_secret", "p8e-", mixed(32)),
        ("azure_client_secret", "", format!("abc8Q~{}", mixed(34))),
        ("telegram_bot_token", "", format!("1234567890:AA{}", mixed(33))),
        ("telegram_bot_token", "", format!("123456:{}", mixed(35))),
        ("jwt", "eyJ", format!("hbGciOiJGQUtFIn0.eyJ{}.{}", mixed(40), mixed(43))),
        ("age_secret_key", "AGE-SECRET-KEY-1", upper(58)),
        ("openai_session_token", "sess-", mixed(40)),
        ("google_refresh_token", "1//0", mixed(60)),
        ("amazon_token", "amzn1.oa2-cs.v1.", hex(64)),
        ("mapbox_secret_token", "sk.eyJ", format!("{}.{}", mixed(40), mixed(22))),
        ("hubspot_token", "pat-na1-", "01234567-89ab-4cde-8f01-23456789abcd".to_owned()),
        ("clickup_token", "pk_", format!("12345678_{}", upper(32))),
        ("intercom_token", "dG9rOi", mixed(60)),
        ("salesforce_token", "00D", format!("{}!{}", mixed(12), mixed(90))),
        ("twitch_token", "oauth:", lower(30)),
        ("yandex_token", "y0_", mixed(60)),
        ("baidu_api_key", "bce-v3/ALTAK-", format!("{}/{}", mixed(21), hex(40))),
        ("scaleway_access_key", "SCW", upper(17)),
        ("voyage_api_key", "pa-", mixed(43)),
        ("modal_token", "as-", mixed(22)),
        ("runpod_api_key", "rpa_", upper(40)),
        ("apify_token", "apify_api_", mixed(36)),
        ("posthog_key", "phx_", mixed(43)),
        ("sourcegraph_token", "sgp_", hex(40)),
        ("axiom_token", "xaat-", "01234567-89ab-4cde-8f01-23456789abcd".to_owned()),
        ("honeycomb_key", "hcaik_", lower(58)),
        ("launchdarkly_key", "sdk-", "01234567-89ab-4cde-8f01-23456789abcd".to_owned()),
        ("duffel_token", "duffel_live_", mixed(43)),
        ("frameio_token", "fio-u-", mixed(64)),
        ("infracost_key", "ico-", mixed(32)),
        ("mongodb_key", "mdb_sa_sk_", mixed(40)),
        ("aiven_password", "AVNS_", mixed(19)),
        ("cockroach_key", "CCDB1_", format!("{}_{}", mixed(22), mixed(40))),
        ("xata_key", "xau_", mixed(36)),
        ("e2b_key", "e2b_", hex(40)),
        ("paseto", "v4.local.", mixed(90)),
        ("nostr_secret_key", "nsec1", fill("fake7f0r2tests", 58)),
        ("minisign_secret_key", "RWRTY0Iy", mixed(140)),
        ("wallet_private_key", "xprv9", fill("Fake7ForTests2", 106)),
        ("zhipu_api_key", "", format!("{}.{}", hex(32), mixed(16))),
        ("azure_service_key", "", format!("{}AzSe{}", mixed(42), mixed(6))),
    ];
    plain.into_iter().map(|(kind, prefix, body)| (kind, prefix.to_owned() + &body)).collect()
}

/// The contexts of a secret; `@` is the secret.
const CONTEXTS: &[&str] = &[
    "@",
    "VALUE=@\n",
    "export VALUE=\"@\"\n",
    "{\"value\": \"@\", \"n\": 1}",
    "{\"text\":\"{\\\"value\\\": \\\"@\\\"}\"}",
    "{\"text\":\"first line\\n@\\nlast line\"}",
    "value: @\nother: 1\n",
    "value = '@'\n",
    "We use @ for the staging site, so keep it.\n",
    "(the value is @)",
    "let client = Client::new(\"@\");\n",
    "| name | value |\n|---|---|\n| staging | @ | kept\n",
    "- `@` (old)\n",
    "密钥是@，请不要外传。\n",
    "設定値「@」を使う\n",
    "one\r\nvalue: @\r\nthree\r\n",
    "<value>@</value>",
    "https://host.invalid/path?value=@&next=1",
    "caf\u{e9} @\t",
    "\u{1b}[32m@\u{1b}[0m\n",
];

/// Secrets known by what surrounds them; the secret is between « and ».
fn named() -> Vec<(&'static str, String)> {
    let aws = format!("{}+/{}", mixed(18), mixed(20));
    let uuid = "01234567-89ab-4cde-8f01-23456789abcd";
    let pem = |label: &str| {
        let body = [mixed(64), mixed(64), mixed(40)].join("\n");
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----")
    };
    let escaped = pem("PRIVATE KEY").replace('\n', "\\n");
    let discord = format!("MTAxMDEwMTAxMDEwMTAxMDEw.GFake1.{}", mixed(38));
    let webhook = format!("{}/B{}/{}", "T0FAKE001", upper(8), mixed(24));
    vec![
        // As planted by the workspace generator.
        ("sk_api_key", "OPENAI_API_KEY=«sk-SECRETENV-0123456789»\n".into()),
        ("sk_api_key", "## Hidden\n\nsecret «sk-SECRETHIDDEN-42»\n".into()),
        ("anthropic_api_key", "\"key\": \"«sk-ant-SECRET-1»\"".into()),
        ("telegram_bot_token", "\"botToken\": \"«123456:SECRETBOT»\"".into()),
        ("oauth_login", "{\"type\": \"oauth\", \"access\": \"«SECRET-ACC»\"}".into()),
        ("oauth_login", "{\"refresh\": \"«SECRET-REF»\", \"type\": \"oauth\"}".into()),
        ("openrouter_api_key", "api_key = \"«sk-or-SECRET-ROOT»\"".into()),
        ("telegram_bot_token", "bot_token = \"«123456:SECRET-TG»\"".into()),
        ("password", "password = \"\"\"«SECRET-LINE1»\nSECRET-LINE2\"\"\"".into()),
        ("sk_api_key", "openai = { api_key = \"«sk-SECRET-INLINE»\", model = \"gpt\" }".into()),
        ("sk_api_key", "fallbacks = [\"«sk-SECRET-ARRAY-1»\"]".into()),
        ("token", "paired_tokens = [\"«SECRET-PAIR-1»\",\n  \"«SECRET-PAIR-2»\"]".into()),
        ("bearer_token", "auth = \"Bearer «SECRET-BEARER»\"".into()),
        ("private_key", "private_key = \"«SECRET-PEM»\"".into()),
        // Keys in files.
        ("pem_private_key", format!("key:\n«{}»\n", pem("RSA PRIVATE KEY"))),
        ("pem_private_key", format!("«{}»", pem("EC PRIVATE KEY"))),
        ("pem_private_key", format!("«{}»\r\n", pem("OPENSSH PRIVATE KEY"))),
        ("pem_private_key", format!("«{}»", pem("ENCRYPTED PRIVATE KEY"))),
        ("pem_private_key", format!("x = \"«{escaped}»\"")),
        ("pem_private_key", format!("«-----BEGIN DSA PRIVATE KEY-----\n{}»\n\n\"", mixed(64))),
        ("gcp_service_account_key", format!("{{\"private_key\": \"«{escaped}»\\n\"}}")),
        ("pgp_private_key", format!("«{}»\n", pem("PGP PRIVATE KEY BLOCK"))),
        ("wireguard_private_key", format!("[Interface]\nPrivateKey = «{}=»\n", mixed(43))),
        ("wireguard_private_key", format!("PresharedKey = «{}=»\r\n", mixed(43))),
        // Addresses.
        ("slack_webhook", format!("https://hooks.slack.com/services/«{webhook}»")),
        (
            "teams_webhook",
            format!("https://x.webhook.office.com/webhookb2/«{uuid}@{uuid}/In/{}/{uuid}»", hex(32)),
        ),
        (
            "discord_webhook",
            format!("https://discord.com/api/webhooks/«{}/{}»", "123456789012345678", mixed(68)),
        ),
        ("url_password", "postgres://app:«h7Gk2mQ9»@db.internal:5432/app".into()),
        ("url_password", "DATABASE_URL=mysql://root:«correcthorsebattery»@10.0.0.4/x\n".into()),
        ("url_password", "git clone https://bot:«Zx81-fake-Zx82»@git.invalid/a.git".into()),
        ("url_password", "amqp://u:«Zx81%40F4ke»@mq:5672".into()),
        (
            "azure_storage_key",
            format!("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{}==»;E", mixed(86)),
        ),
        (
            "azure_shared_access_key",
            format!("SharedAccessKeyName=x;SharedAccessKey=«{}=»", mixed(43)),
        ),
        ("azure_sas_signature", format!("https://x.invalid/c?sv=2024&sig=«{}%3D»", mixed(43))),
        ("terraform_token", format!("{}.atlasv1.«{}»", mixed(14), mixed(67))),
        // Headers.
        ("bearer_token", format!("Authorization: Bearer «{}»\n", mixed(30))),
        ("bearer_token", format!("curl -H 'authorization: bearer «{}»' x", hex(40))),
        ("bearer_token", format!("{{\\\"Authorization\\\": \\\"Bearer «{}»\\\"}}", mixed(30))),
        ("basic_auth", "Authorization: Basic «dXNlcjpaeDgxLWZha2U=»\n".into()),
        (
            "registry_auth",
            "{\"auths\":{\"r.invalid\":{\"auth\":\"«dXNlcjpaeDgxLWZha2U=»\"}}}".into(),
        ),
        ("api_key", format!("X-Api-Key: «{}»\r\n", mixed(32))),
        // Bots.
        ("discord_bot_token", format!("DISCORD_TOKEN=«{discord}»\n")),
        ("discord_bot_token", format!("\"token\": \"«{discord}»\"")),
        ("discord_bot_token", format!("the Discord bot signs in with «{discord}» now")),
        ("discord_bot_token", format!("Authorization: Bot «{discord}»")),
        (
            "telegram_bot_token",
            format!("https://api.telegram.org/bot«123456789:AA{}»/getMe", mixed(33)),
        ),
        ("telegram_bot_token", "my Telegram bot: «1234567:Fake-Bot-1»".into()),
        // Vendors known by the name.
        ("aws_secret_access_key", format!("aws_secret_access_key = «{aws}»\n")),
        ("aws_secret_access_key", format!("AWS_SECRET_ACCESS_KEY=«{aws}»\n")),
        ("aws_secret_access_key", format!("\"SecretAccessKey\": \"«{aws}»\",")),
        ("aws_secret_access_key", format!("secret_access_key: «{aws}»\n")),
        ("cohere_api_key", format!("COHERE_API_KEY=«{}»\n", mixed(40))),
        ("mistral_api_key", format!("\"mistralApiKey\": \"«{}»\"", mixed(32))),
        ("cloudflare_api_token", format!("CLOUDFLARE_API_TOKEN=«{}»\n", mixed(40))),
        ("cloudflare_api_token", format!("CF_API_KEY=«{}»\n", hex(37))),
        ("twilio_auth_token", format!("TWILIO_AUTH_TOKEN=«{}»\n", hex(32))),
        ("heroku_api_key", format!("HEROKU_API_KEY=«{uuid}»\n")),
        ("postmark_token", format!("POSTMARK_SERVER_TOKEN=«{uuid}»\n")),
        ("railway_token", format!("RAILWAY_TOKEN=«{uuid}»\n")),
        ("asana_token", format!("asana_token = \"«1/0123456789:{}»\"", hex(32))),
        ("snyk_token", format!("SNYK_TOKEN=«{uuid}»\n")),
        ("datadog_api_key", format!("DD_API_KEY=«{}»\n", hex(32))),
        ("netrc_password", "machine git.invalid login bot password «Zx81fake»\n".into()),
        // Names that say no more than that it is secret.
        ("password", "DB_PASSWORD=«correcthorse»\n".into()),
        ("password", "export DB_PASSWORD='«Zx81fake»'\n".into()),
        ("password", "  password: «Zx81fake»\n".into()),
        ("password", "{\"password\":\"«Zx81fake»\"}".into()),
        ("password", "password=«Zx81fake»\r\nuser=me\r\n".into()),
        ("password", "passphrase = '«Blue!Horse»'".into()),
        ("password", "{\"a\":\"DB_PASSWD=«Zx81fake»\\nX=1\"}".into()),
        ("password", "密码 password：«Zx81fake-2»\n".into()),
        ("password", "| password | «Zx81fakeZx81fake» |".into()),
        ("api_key", format!("api_key: «{}»\n", mixed(20))),
        ("api_key", format!("const API_KEY: &str = \"«{}»\";", mixed(20))),
        ("api_key", format!("apiKey: '«{}»',", mixed(20))),
        ("api_key", format!("**API key:** «{}»\n", mixed(20))),
        ("api_key", format!("os.environ[\"SERVICE_API_KEY\"] = \"«{}»\"", mixed(20))),
        ("api_key", format!("https://x.invalid/v1?api_key=«{}»&q=1", hex(24))),
        ("api_key", format!("{{\\\"api_key\\\": \\\"«{}»\\\"}}", mixed(20))),
        ("api_key", format!("run --api-key «{}» --verbose", mixed(20))),
        (
            "api_key",
            format!("{{\"type\":\"api_key\",\"provider\":\"x\",\"key\":\"«{}»\"}}", mixed(32)),
        ),
        ("token", format!("access_token = \"«{}»\"", mixed(20))),
        ("token", format!("//registry.invalid/:_authToken=«{}»\n", mixed(24))),
        ("token", format!("refreshToken: \"«{}»\"", mixed(20))),
        ("token", format!("TOKEN=«{}»\n", lower(12))),
        ("secret", format!("client_secret = \"«{}»\"", mixed(20))),
        ("secret", format!("CLIENT_SECRET=«{}»\n", lower(12))),
        ("secret", format!("clientSecret: \"«{}»\"", mixed(20))),
        ("secret", format!("\"app_secret\" => \"«{}»\"", hex(32))),
        // What people say, and what a wallet holds.
        ("password", "The router password is «Sommer-Krabbe-77».\n".into()),
        ("pin", "The PIN of my card is «4711».\n".into()),
        ("card_number", "My card is «4111 1111 1111 1111».\n".into()),
        ("card_code", "The CVV is «737»\n".into()),
        ("recovery_code", "Recovery codes:\n- «8f3k-29dm»\n- «x7wq-41pv»\n".into()),
        ("one_time_secret", "otpauth://totp/x?secret=«FAKE7FOR2TESTS55»&issuer=y".into()),
        ("session_cookie", format!("Cookie: session=«{}»; theme=dark\n", mixed(32))),
        (
            "seed_phrase",
            "My words: «zoo wild cat mango velvet thunder lamp lunar pony razor table ocean».\n"
                .into(),
        ),
    ]
}

/// Cuts the marks out and returns the text with the ranges they were around.
fn unmark(marked: &str) -> (String, Vec<std::ops::Range<usize>>) {
    let (mut text, mut ranges, mut start) = (String::new(), Vec::new(), 0);
    for character in marked.chars() {
        match character {
            '«' => start = text.len(),
            '»' => ranges.push(start..text.len()),
            other => text.push(other),
        }
    }
    (text, ranges)
}

fn found(text: &str) -> Vec<(&'static str, &str)> {
    scan(text.as_bytes()).into_iter().map(|hit| (hit.kind, &text[hit.range])).collect()
}

#[test]
fn every_prefixed_secret_is_found_in_every_context() {
    let mut wrong = Vec::new();
    let mut planted = 0;
    for (kind, secret) in prefixed() {
        for context in CONTEXTS {
            let text = context.replace('@', &secret);
            planted += 1;
            if found(&text) != [(kind, secret.as_str())] {
                wrong.push(format!("{kind}: {text:?} gave {:?}", found(&text)));
            }
        }
    }
    assert!(planted >= 200, "{planted}");
    assert!(wrong.is_empty(), "{} of {planted}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_named_secret_is_found() {
    let mut wrong = Vec::new();
    for (kind, marked) in named() {
        let (text, ranges) = unmark(&marked);
        let expected: Vec<_> = ranges.into_iter().map(|range| (kind, &text[range])).collect();
        if found(&text) != expected {
            wrong.push(format!("{kind}: {text:?} gave {:?}", found(&text)));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_tables_cover_every_kind() {
    let planted: std::collections::HashSet<_> =
        prefixed().into_iter().chain(named()).map(|(kind, _)| kind).collect();
    let missing: Vec<_> = KINDS.iter().filter(|kind| !planted.contains(kind.name)).collect();
    assert!(planted.len() >= 45);
    assert!(missing.is_empty(), "{missing:?}");
}

/// What looks like a secret and is none.
const INNOCENT: &[&str] = &[
    "max_tokens: 4096",
    "token: string",
    "the token is valid",
    "\"token\": \"string\"",
    "password: String,",
    "let token = parser.next_token();",
    "token = tokens[i + 1]",
    "secret = get_secret(\"database\")",
    "apiKey: process.env.API_KEY,",
    "api_key = os.environ[\"API_KEY\"]",
    "OPENAI_API_KEY=${OPENAI_API_KEY}",
    "OPENAI_API_KEY=$OPENAI_API_KEY",
    "OPENAI_API_KEY=your-api-key",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=<your key here>",
    "API_TOKEN=changeme",
    "API_TOKEN=",
    "API_TOKEN=\"\"",
    "password = \"changeme\"",
    "password = None",
    "password: null",
    "password: [redacted:password]",
    "password: REDACTED",
    "password: ********",
    "password = \"example\"",
    "\"password\": \"Must be at least 8 characters\"",
    "Password: enter your password",
    "tokens: 12345678901",
    "token_url = \"https://login.invalid/oauth2/token\"",
    "token_endpoint: https://a.invalid/v1/token2",
    "secret_name = \"prod-db-2\"",
    "tokenizer = \"bert-base-uncased-v2\"",
    "next_page_token = \"CAUQAA8f7d6s5a4\"",
    "publicKeyToken=\"1fc8b3b9a1e18e3b\"",
    "public_key = \"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\"",
    "primary_key = \"id2\"",
    "the key: value pairs of 2024",
    "task-list-for-2024-Q3-planning",
    "risk-aware-something-long-1",
    "sk-container-id-1",
    "<div class=\"sk-toggleable__content sk-estimator-doc-link\">",
    "disk-usage-REPORT-20240101",
    "ask-me-anything-2024-EDITION",
    "550e8400-e29b-41d4-a716-446655440000",
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
    "checksum = \"d3b07384d113edec49eaa6238ad5ff00d3b07384d113edec49eaa6238ad5ff00\"",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "https://user@host.invalid/path",
    "https://user:password@host.invalid/path",
    "https://user:pass@example.com/",
    "https://host.invalid:8080/@someone/post:12345678",
    "postgres://postgres:postgres@localhost/db",
    "postgres://{user}:{password}@{host}/db",
    "redis://:${REDIS_PASSWORD}@cache:6379",
    "ssh://git@git.invalid:22/repo.git",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_TOKEN",
    "bearer authentication is required",
    "a bearer token of the account",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "if line == \"-----BEGIN RSA PRIVATE KEY-----\" {",
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUFakeFakeFakeFakeFakeFakeFakeFake\n-----END CERTIFICATE-----",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "at 12:30:45 and 2026-03-20T10:00:00Z",
    "range 123456:789012 of the file",
    "eyJhbGciOiJIUzI1NiJ9",
    "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=",
    "{\"access\": \"read-write\", \"refresh\": \"every-minute\"}",
    "CancellationToken token2 = source.Token;",
    "csrf_token: {{ csrf_token() }}",
    "password=password",
    "PASSWORD=$(cat /run/secrets/db)",
    "SECRET_FILE=/run/secrets/db_password_2",
    "secret: /run/secrets/db1/file2",
    "type Token2 = { token: AccessTokenV2Response }",
    "message: \"token expired\"",
    "token: Ed25519KeyPair,",
    "npm_config_registry=https://registry.invalid",
    "hf_hub_download(repo_id)",
    "pattern.repeat(14)",
    "ghp_ is the prefix of a token",
    "precious-metals-and-social-studies",
    "key-value-store-with-many-words-in-it",
    "kXhXQhKj2cUgkuv+B/RLt4G/BSAh0OBPcGJH9qSNphXr5UIsADBh3k/VeRDBNy91",
    "password: !vault",
    "the format of a sk-ecdsa-sha2-nistp256@openssh.com public key",
    "api_key = \"enc2:90f9548273b2807d6a9777013a18f1ed8a57f7588863a837\"",
];

#[test]
fn what_only_looks_like_a_secret_is_none() {
    assert!(INNOCENT.len() >= 60);
    for text in INNOCENT {
        assert_eq!(found(text), [], "{text}");
        let line = format!("first\n{text}\nlast\n");
        assert_eq!(found(&line), [], "{line}");
        let escaped = format!("{{\"text\":\"first\\n{}\\nlast\"}}", text.replace('"', "\\\""));
        assert_eq!(found(&escaped), [], "{escaped}");
    }
}

#[test]
fn a_token_is_found_behind_a_word_and_a_hyphen() {
    let body = "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
    for text in
        [format!("github-ghp_{body}"), format!("_ghp_{body}"), format!("memory/dir-ghp_{body}.md")]
    {
        let token = format!("ghp_{body}");
        assert_eq!(found(&text), [("github_token", token.as_str())], "{text}");
    }
    // Such letters are in other tokens by chance.
    assert_eq!(found(&format!("aGVsbG8td29ybGQ-Zm9vYmFyYmF6cXV4-ghp_{body}")), []);
}

#[test]
fn lines_are_counted_from_one() {
    let secret = concat!("ghp_", "0123456789abcdefABCDEF0123456789abcd");
    let text = format!("{secret}\n\r\n{secret}\n x {secret}");
    let lines: Vec<_> = scan(text.as_bytes()).iter().map(|hit| hit.line).collect();
    assert_eq!(lines, [1, 3, 4]);
}

#[test]
fn bytes_that_are_not_text_are_scanned_too() {
    let secret = concat!("ghp_", "0123456789abcdefABCDEF0123456789abcd");
    let bytes = [b"\xff\xfe\x00", secret.as_bytes(), b"\x00\xe9\xff"].concat();
    let hits = scan(&bytes);
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].range, 3..3 + secret.len());
}

#[test]
fn a_redacted_text_holds_marks_and_everything_else() {
    let text = "a\nDB_PASSWORD=correcthorse\npostgres://app:h7Gk2mQ9@db.internal/app\n";
    let redacted = redact(text.as_bytes(), &scan(text.as_bytes()));
    let expected = "a\nDB_PASSWORD=[redacted:password]\npostgres://app:[redacted:url_password]@db.internal/app\n";
    assert_eq!(String::from_utf8_lossy(&redacted), expected);
    assert!(matches!(redact(b"nothing here", &[]), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn every_planted_secret_is_gone_once_redacted() {
    for (kind, secret) in prefixed() {
        for context in CONTEXTS {
            let text = context.replace('@', &secret);
            let expected = context.replace('@', &format!("[redacted:{kind}]"));
            let redacted = redact(text.as_bytes(), &scan(text.as_bytes())).into_owned();
            assert_eq!(String::from_utf8_lossy(&redacted), expected);
            assert_eq!(scan(&redacted), []);
        }
    }
}

#[test]
fn hits_of_other_bytes_do_not_panic() {
    let hit = |range| SecretHit { kind: "token", range, line: 1 };
    let odd = [hit(std::ops::Range { start: 5, end: 3 }), hit(2..9), hit(1..4), hit(90..100)];
    assert!(!redact(b"abcdef", &odd).is_empty());
}

#[test]
fn a_chain_that_hides_one_token_behind_the_next_is_gone_at_once() {
    for link in ["=ABSK0a1B2c3D4e5", "/sk-proj-", "AccountKey=abcdefABCDEF0123", "\nwhsec_0a1B2c3D"]
    {
        let chain = link.repeat(3_000);
        let redacted = redact(chain.as_bytes(), &scan(chain.as_bytes())).into_owned();
        assert_eq!(scan(&redacted), [], "{link}");
    }
}

/// Pieces of which hostile text is made: anchors, signs, and parts of secrets.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let secrets: Vec<Vec<u8>> = prefixed()
        .into_iter()
        .map(|(_, secret)| secret.into_bytes())
        .chain(named().into_iter().map(|(_, marked)| unmark(&marked).0.into_bytes()))
        .chain(crate::fixture_tests::texts().map(String::into_bytes))
        .collect();
    let cut = (proptest::sample::select(secrets), any::<proptest::sample::Index>(), any::<bool>())
        .prop_map(
            |(secret, at, cut)| {
                if cut { secret[..at.index(secret.len())].to_vec() } else { secret }
            },
        );
    const SIGNS: &[&str] = &[
        "token",
        "secret",
        "password",
        "key",
        "api_key",
        "bot",
        "discord",
        "bearer ",
        "sk-",
        "eyJ",
        "=",
        ":",
        "://",
        "@",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        " ",
        "-",
        "_",
        ".",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----END ",
        "[redacted:",
        "]",
        "{",
        "}",
        "\"oauth\"",
        "\"access\"",
        "\"refresh\": \"",
        "AKIA",
        "machine ",
        " login a password ",
        "|",
        "--",
        "[",
        ",",
        "123456:",
    ];
    let sign = proptest::sample::select(SIGNS).prop_map(|sign| sign.as_bytes().to_vec());
    let noise = proptest::collection::vec(any::<u8>(), 0..20);
    let word = "[A-Za-z0-9+/_-]{1,50}".prop_map(String::into_bytes);
    let piece = prop_oneof![4 => sign, 2 => cut, 1 => noise, 2 => word];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn in_blocks(bytes: &[u8], sizes: &[usize]) -> Vec<SecretHit> {
    let mut scanner = Scanner::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        let (block, behind) = rest.split_at(rest.len().min(*size));
        scanner.feed(block);
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    scanner.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn redacting_leaves_nothing_to_find(bytes in hostile()) {
        let redacted = redact(&bytes, &scan(&bytes)).into_owned();
        prop_assert_eq!(scan(&redacted), []);
        let again = redact(&redacted, &scan(&redacted)).into_owned();
        prop_assert_eq!(again, redacted);
    }

    #[test]
    fn redacting_keeps_everything_else(bytes in hostile()) {
        let (mut expected, mut from) = (Vec::new(), 0);
        for hit in scan(&bytes) {
            expected.extend_from_slice(&bytes[from..hit.range.start]);
            expected.extend_from_slice(format!("[redacted:{}]", hit.kind).as_bytes());
            from = hit.range.end;
        }
        expected.extend_from_slice(&bytes[from..]);
        // Or more had to go than the hits.
        prop_assume!(scan(&expected).is_empty());
        prop_assert_eq!(redact(&bytes, &scan(&bytes)).into_owned(), expected);
    }

    #[test]
    fn hits_are_sorted_apart_and_inside(bytes in hostile()) {
        let mut end = 0;
        for hit in scan(&bytes) {
            prop_assert!(hit.range.start >= end && hit.range.start < hit.range.end);
            prop_assert!(hit.range.end <= bytes.len());
            end = hit.range.end;
            let breaks = bytes[..hit.range.start].iter().filter(|&&byte| byte == b'\n').count();
            prop_assert_eq!(hit.line, breaks as u64 + 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_stream_gives_what_the_whole_gives(
        parts in proptest::collection::vec((hostile(), 0..40_000_usize), 1..24),
        sizes in proptest::collection::vec(1..200_000_usize, 1..5),
    ) {
        let mut bytes = Vec::new();
        for (part, gap) in parts {
            bytes.extend_from_slice(&part);
            bytes.resize(bytes.len() + gap, b'a');
        }
        prop_assert_eq!(in_blocks(&bytes, &sizes), scan(&bytes));
    }
}

#[test]
fn a_secret_across_every_border_of_blocks_is_found() {
    let secret = concat!("ghp_", "0123456789abcdefABCDEF0123456789abcd");
    for gap in (0..300_000).step_by(SlowGroup::Laws.pick(39_989, 9_973)) {
        let text = format!("{}\n{secret}\n{}", fill("word and ", gap), fill("more ", 200_000));
        let whole = scan(text.as_bytes());
        assert_eq!(whole.len(), 1);
        assert_eq!(in_blocks(text.as_bytes(), &[65_536]), whole);
        assert_eq!(in_blocks(text.as_bytes(), &[100_003, 7]), whole);
    }
}

#[test]
fn one_byte_at_a_time_is_the_same() {
    let text = "OPENAI_API_KEY=sk-SECRETENV-0123456789\nDB_PASSWORD=correcthorse\n".repeat(50);
    assert_eq!(in_blocks(text.as_bytes(), &[1]), scan(text.as_bytes()));
}

/// Inputs that would be slow if anything were read again and again.
pub(crate) const REPEATED: &[&str] = &[
    "x",
    "=",
    "eyJ",
    "eyJ.",
    "eyJhbGciOiJIUzI1NiJ9.",
    "sk-",
    "sk-A ",
    "token=",
    "password=a1b2c3d4",
    "a1token=",
    "token=\"",
    "token: '",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY",
    "://",
    "://a:b",
    "http://a:b@",
    "bot ",
    "discord.",
    "bot.",
    "123456:",
    "0",
    "00:",
    "-us",
    "0123456789abcdef",
    "AKIA0123456789ABCDEF ",
    "hvs.",
    "/api/webhooks/",
    "bearer ",
    "basic auth ",
    "auth basic ",
    "machine  login  password ",
    "\"access\":\"aaaaaaaaa\",",
    "[redacted:",
    "key ",
    "tokens = [\"a\", ",
    "\\",
    "\"",
    "\\\"token\\\":",
    "Q~",
    "a8Q~",
    "secret_",
    "pat",
    "\"auth\":\"a",
    "AccountKey=",
    "sig=",
    "api key: ",
    "--token ",
    "password: ",
    "password: \"",
    "password\t",
    "password,x\n",
    "| password |\n",
    "| password |\n|---|\n",
    "<tr><th>password</th></tr>",
    "<password>x",
    "name=\"password\" ",
    "# password\n",
    "the password for ",
    "пароль ",
    "密码",
    "pin ",
    "mysql -p",
    "net use ",
    "echo x | chpasswd ",
    "alter user identified by ",
    "recovery code ",
    "key aa:bb:",
    "&#112;",
    "&quot;",
    "\\x70",
    "ｐ",
    "QUJD",
    "abandon ",
];

#[test]
fn repeated_anchors_take_linear_time() {
    // A fiftieth of the bytes of the real figure, because tests are not optimised; a rule that is
    // not linear takes minutes.
    for text in REPEATED {
        let input = text.repeat(200_000 / text.len());
        let begin = std::time::Instant::now();
        let hits = scan(input.as_bytes());
        let took = begin.elapsed();
        assert!(took.as_secs_f64() < 20.0, "{text:?}: {took:?}, {} hits", hits.len());
    }
}

#[test]
fn names_and_targets_are_searched_as_text_is() {
    let token = concat!("ghp_", "0123456789abcdefABCDEF0123456789abcd");
    let key = format!("sk-proj-{}", mixed(120));
    for (name, kind) in [
        (format!("notes/{token}.txt"), "github_token"),
        (format!("{token}.txt"), "github_token"),
        (format!("{token}.tar.gz"), "github_token"),
        (format!("backup {token}/a.md"), "github_token"),
        (format!("{key}.md"), "openai_api_key"),
        ("https://ada:h7Gk2mQ9@host.net/x".to_owned(), "url_password"),
        ("mnt/https://ada:h7Gk2mQ9@host".to_owned(), "url_password"),
    ] {
        let hits = scan(name.as_bytes());
        assert_eq!(hits.iter().map(|hit| hit.kind).collect::<Vec<_>>(), [kind], "{name}");
    }
    for name in ["notes/2026-03-20.md", "memory/tokens.md", "https://host.net/a@b", "key.pem"] {
        assert_eq!(scan(name.as_bytes()), [], "{name}");
    }
}
