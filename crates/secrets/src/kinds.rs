//! The prefixes by which most kinds of secrets are known.

use crate::shape::{self, Alphabet};

/// Literals that have the same kind of body behind them.
#[derive(Debug)]
pub(crate) struct Prefix {
    pub(crate) kind: &'static str,
    /// The texts in front of the body, each in its own case.
    pub(crate) literals: &'static [&'static str],
    /// What the body is made of.
    pub(crate) alphabet: Alphabet,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// What else must hold of the body.
    pub(crate) shape: BodyShape,
    /// Whether the literal belongs to the secret; an address or a name does not.
    pub(crate) literal_is_secret: bool,
}

/// What must hold of a body beside its length and alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyShape {
    /// A digit or a capital.
    Ordinary,
    /// More than words in lower case and short numbers.
    NotWords,
    /// Upper case, lower case and digits.
    AllThree,
    /// `22 . 43` characters.
    SendGrid,
    /// `14 . 64` characters.
    Airtable,
    /// A number, a slash and a token.
    DiscordWebhook,
    /// At least three parts with slashes between.
    Path,
    /// Groups with dashes between, the last ones of five.
    OnePassword,
    /// A number, an underscore and 32 capitals and digits.
    ClickUp,
    /// The id of an organisation, `!` and a token.
    Salesforce,
    /// Groups of 8, 4, 4, 4 and 12 digits.
    Uuid,
}

/// A prefix with an ordinary body, itself a part of the secret.
const fn token(
    kind: &'static str,
    literals: &'static [&'static str],
    alphabet: Alphabet,
    least: usize,
    most: usize,
) -> Prefix {
    let shape = BodyShape::Ordinary;
    Prefix { kind, literals, alphabet, least, most, shape, literal_is_secret: true }
}

impl Prefix {
    const fn shaped(self, shape: BodyShape) -> Self {
        Self { shape, ..self }
    }

    const fn behind(self) -> Self {
        Self { literal_is_secret: false, ..self }
    }
}

/// Every prefix. One position may have several; the longest literal is the most specific.
#[rustfmt::skip]
pub(crate) const PREFIXES: &[Prefix] = &[
    token("openai_api_key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], shape::URL64, 16, 400),
    token("anthropic_api_key", &["sk-ant-"], shape::URL64, 8, 400),
    token("openrouter_api_key", &["sk-or-"], shape::URL64, 8, 400),
    token("langfuse_secret_key", &["sk-lf-"], shape::URL64, 20, 100),
    token("sk_api_key", &["sk-"], shape::URL64, 12, 400).shaped(BodyShape::NotWords),
    token("google_api_key", &["AIza"], shape::URL64, 35, 35),
    token("google_oauth_secret", &["GOCSPX-"], shape::URL64, 24, 60),
    token("google_oauth_token", &["ya29."], shape::URL64_DOT, 30, 1024),
    token("aws_access_key_id", &["AKIA", "ASIA", "ABIA", "ACCA"], shape::UPPER_NUM, 16, 16),
    token("aws_bedrock_api_key", &["ABSK"], shape::BASE64, 100, 300),
    token("aws_bedrock_api_key", &["bedrock-api-key-"], shape::BASE64, 40, 4096),
    token("alibaba_access_key_id", &["LTAI"], shape::ALNUM, 12, 26).shaped(BodyShape::AllThree),
    token("tencent_secret_id", &["AKID"], shape::ALNUM, 32, 48).shaped(BodyShape::AllThree),
    token("azure_storage_key", &["AccountKey="], shape::BASE64, 40, 100).behind(),
    token("azure_shared_access_key", &["SharedAccessKey="], shape::BASE64, 40, 100).behind(),
    token("azure_sas_signature", &["sig="], shape::QUERY64, 40, 120).shaped(BodyShape::AllThree).behind(),
    token("github_token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], shape::ALNUM, 36, 255),
    token("github_fine_grained_token", &["github_pat_"], shape::WORD, 36, 255),
    token("gitlab_token", &[
        "glpat-", "glrt-", "gldt-", "glft-", "glsoat-", "glcbt-", "glptt-", "glagent-", "gloas-",
        "glimt-", "glffct-",
    ], shape::URL64_DOT, 16, 320),
    token("bitbucket_app_password", &["ATBB"], shape::ALNUM, 28, 60).shaped(BodyShape::AllThree),
    token("atlassian_api_token", &["ATATT3x", "ATCTT3x"], shape::URL64_PADDED, 60, 400),
    token("slack_token", &[
        "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xoxe-", "xapp-",
    ], shape::URL64, 16, 400),
    token("slack_token", &["xoxe."], shape::URL64_DOT, 20, 400),
    token("slack_webhook", &["hooks.slack.com/services/"], shape::PATH64, 30, 120).shaped(BodyShape::Path).behind(),
    token("slack_webhook", &["hooks.slack.com/workflows/"], shape::PATH64, 30, 160).shaped(BodyShape::Path).behind(),
    token("discord_webhook", &["/api/webhooks/"], shape::PATH64, 60, 140).shaped(BodyShape::DiscordWebhook).behind(),
    token("teams_webhook", &[
        ".webhook.office.com/webhookb2/",
    ], shape::UNRESERVED_AT, 60, 300).behind(),
    token("stripe_secret_key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], shape::ALNUM, 16, 255),
    token("stripe_webhook_secret", &["whsec_"], shape::BASE64, 24, 100),
    token("twilio_api_key", &["SK"], shape::HEX, 32, 32),
    token("sendgrid_api_key", &["SG."], shape::URL64_DOT, 50, 90).shaped(BodyShape::SendGrid),
    token("mailgun_api_key", &["key-"], shape::HEX, 32, 32),
    token("brevo_api_key", &["xkeysib-", "xsmtpsib-"], shape::URL64, 60, 120),
    token("resend_api_key", &["re_"], shape::WORD, 24, 60).shaped(BodyShape::AllThree),
    token("npm_token", &["npm_"], shape::ALNUM, 36, 36),
    token("pypi_token", &["pypi-"], shape::URL64, 60, 400),
    token("pypi_token", &["pypi-AgE"], shape::URL64, 30, 400),
    token("crates_io_token", &["cio"], shape::ALNUM, 32, 32).shaped(BodyShape::AllThree),
    token("rubygems_token", &["rubygems_"], shape::HEX, 48, 48),
    token("nuget_api_key", &["oy2"], shape::LOWER_NUM, 43, 43),
    token("clojars_token", &["CLOJARS_"], shape::LOWER_NUM, 60, 60),
    token("docker_hub_token", &["dckr_pat_", "dckr_oat_"], shape::URL64, 20, 60),
    token("digitalocean_token", &["dop_v1_", "doo_v1_", "dor_v1_"], shape::HEX, 64, 64),
    token("heroku_api_key", &["HRKU-"], shape::URL64, 30, 80),
    token("netlify_token", &["nfp_", "nfc_"], shape::ALNUM, 36, 60),
    token("vercel_token", &["vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"], shape::ALNUM, 24, 80),
    token("fly_token", &["fm2_", "fm1r_"], shape::BASE64, 60, 2048),
    token("render_api_key", &["rnd_"], shape::ALNUM, 24, 60),
    token("hugging_face_token", &["hf_", "api_org_"], shape::ALNUM, 30, 60),
    token("replicate_token", &["r8_"], shape::ALNUM, 30, 60),
    token("groq_api_key", &["gsk_"], shape::ALNUM, 30, 80),
    token("xai_api_key", &["xai-"], shape::ALNUM, 40, 120),
    token("perplexity_api_key", &["pplx-"], shape::ALNUM, 30, 80),
    token("nvidia_api_key", &["nvapi-"], shape::URL64, 40, 100),
    token("cerebras_api_key", &["csk-"], shape::ALNUM, 30, 80),
    token("together_api_key", &["tgp_v1_"], shape::URL64, 30, 80),
    token("fireworks_api_key", &["fw_"], shape::ALNUM, 22, 40).shaped(BodyShape::AllThree),
    token("jina_api_key", &["jina_"], shape::URL64, 40, 100),
    token("tavily_api_key", &["tvly-"], shape::URL64, 20, 80).shaped(BodyShape::NotWords),
    token("firecrawl_api_key", &["fc-"], shape::HEX, 32, 32),
    token("brave_search_api_key", &["BSA"], shape::URL64, 26, 30).shaped(BodyShape::AllThree),
    token("pinecone_api_key", &["pcsk_"], shape::WORD, 40, 120),
    token("elevenlabs_api_key", &["sk_"], shape::HEX, 48, 48),
    token("langsmith_api_key", &["lsv2_pt_", "lsv2_sk_"], shape::WORD, 36, 80),
    token("wandb_api_key", &["wandb_v1_"], shape::WORD, 40, 120),
    token("notion_token", &["secret_"], shape::ALNUM, 43, 43),
    token("notion_token", &["ntn_"], shape::ALNUM, 40, 60),
    token("linear_api_key", &["lin_api_"], shape::ALNUM, 30, 60),
    token("linear_api_key", &["lin_oauth_"], shape::ALNUM, 30, 80),
    token("linear_api_key", &["lin_wh_"], shape::ALNUM, 30, 60),
    token("airtable_token", &["pat"], shape::ALNUM_DOT, 79, 79).shaped(BodyShape::Airtable),
    token("figma_token", &["figd_", "figu_"], shape::URL64, 36, 60),
    token("shopify_token", &["shpat_", "shpss_", "shpca_", "shppa_"], shape::HEX_ANY, 32, 32),
    token("square_token", &["sq0atp-"], shape::URL64, 22, 60),
    token("square_token", &["sq0csp-"], shape::URL64, 40, 60),
    token("square_token", &["sq0idp-"], shape::URL64, 22, 60),
    token("square_token", &["EAAA"], shape::URL64, 60, 60).shaped(BodyShape::AllThree),
    token("facebook_token", &["EAACEdEose0c"], shape::ALNUM, 20, 400),
    token("facebook_token", &["EAAG", "EAAB"], shape::ALNUM, 80, 400),
    token("facebook_token", &["IGQV"], shape::URL64, 80, 400),
    token("paypal_token", &["access_token$production$"], shape::WORD_DOLLAR, 40, 80),
    token("razorpay_key", &["rzp_live_"], shape::ALNUM, 14, 30),
    token("databricks_token", &["dapi"], shape::HEX_DASH, 32, 34),
    token("vault_token", &["hvs.", "hvb.", "hvr."], shape::URL64_DOT, 24, 400),
    token("terraform_token", &[".atlasv1."], shape::URL64, 50, 100).behind(),
    token("tailscale_key", &["tskey-"], shape::URL64, 16, 120),
    token("cloudflare_api_token", &["v1.0-"], shape::HEX_DASH, 150, 200),
    token("grafana_token", &["glsa_"], shape::WORD, 36, 80),
    token("grafana_token", &["glc_"], shape::BASE64, 40, 400),
    token("new_relic_key", &["NRAK-"], shape::UPPER_NUM, 27, 27),
    token("new_relic_key", &["NRII-"], shape::URL64, 32, 32),
    token("new_relic_key", &["NRJS-"], shape::HEX, 19, 19),
    token("sentry_token", &["sntrys_"], shape::SENTRY, 60, 400),
    token("sentry_token", &["sntryu_"], shape::HEX, 64, 64),
    token("dynatrace_token", &["dt0c01."], shape::URL64_DOT, 80, 100),
    token("postman_api_key", &["PMAK-"], shape::URL64, 59, 59),
    token("pulumi_token", &["pul-"], shape::HEX, 40, 40),
    token("doppler_token", &[
        "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.",
    ], shape::ALNUM_DOT, 40, 70),
    token("planetscale_token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], shape::UNRESERVED, 30, 70),
    token("supabase_token", &["sbp_"], shape::HEX, 40, 40),
    token("supabase_token", &["sb_secret_"], shape::URL64, 24, 80),
    token("neon_api_key", &["napi_"], shape::LOWER_NUM, 60, 70),
    token("circleci_token", &["CCIPAT_", "CCIPRJ_"], shape::WORD, 40, 90),
    token("buildkite_token", &["bkua_"], shape::HEX, 40, 40),
    token("contentful_token", &["CFPAT-"], shape::URL64, 43, 43),
    token("typeform_token", &["tfp_"], shape::UNRESERVED, 40, 80),
    token("readme_api_key", &["rdme_"], shape::LOWER_NUM, 60, 80),
    token("prefect_api_key", &["pnu_"], shape::ALNUM, 36, 36),
    token("flutterwave_key", &["FLWSECK"], shape::URL64, 20, 60),
    token("shippo_token", &["shippo_live_", "shippo_test_"], shape::HEX, 40, 40),
    token("easypost_key", &["EZAK", "EZTK"], shape::ALNUM, 54, 54),
    token("dropbox_token", &["sl."], shape::URL64_DOT, 100, 2048),
    token("onepassword_token", &["ops_eyJ"], shape::URL64_PADDED, 100, 2048),
    token("onepassword_token", &["A3-"], shape::UPPER_DASH, 32, 40).shaped(BodyShape::OnePassword),
    token("openshift_token", &["sha256~"], shape::URL64, 43, 43),
    token("adobe_client_secret", &["p8e-"], shape::ALNUM, 32, 32),
    token("openai_session_token", &["sess-"], shape::ALNUM, 24, 120),
    token("gitlab_token", &["GR1348941"], shape::URL64, 18, 40),
    token("google_refresh_token", &["1//0"], shape::URL64, 40, 300),
    token("amazon_token", &["amzn.mws."], shape::HEX_DASH, 36, 36),
    token("amazon_token", &["amzn1.oa2-cs.v1."], shape::HEX, 64, 64),
    token("amazon_token", &["Atza|", "Atzr|"], shape::URL64_PADDED, 40, 1024),
    token("bitbucket_app_password", &["BBDC-"], shape::BASE64, 40, 60),
    token("atlassian_api_token", &["ATSTT3x"], shape::URL64_PADDED, 60, 400),
    token("slack_token", &["xwfp-"], shape::URL64, 16, 400),
    token("new_relic_key", &["NRIQ-"], shape::URL64, 32, 32),
    token("shopify_token", &["shptka_"], shape::HEX_ANY, 32, 32),
    token("mapbox_secret_token", &["sk.eyJ"], shape::URL64_DOT, 40, 300),
    token("grafana_token", &["eyJrIjoi"], shape::BASE64, 60, 400),
    token("intercom_token", &["dG9rOi"], shape::BASE64, 40, 120),
    token("hubspot_token", &["pat-na1-", "pat-na2-", "pat-eu1-"], shape::HEX_DASH, 36, 36),
    token("clickup_token", &["pk_"], shape::WORD, 36, 48).shaped(BodyShape::ClickUp),
    token("salesforce_token", &["00D"], shape::SALESFORCE, 70, 140).shaped(BodyShape::Salesforce),
    token("twitch_token", &["oauth:"], shape::LOWER_NUM, 30, 30),
    token("yandex_token", &["y0_"], shape::URL64, 50, 100),
    token("yandex_token", &["AQVN"], shape::URL64, 35, 40),
    token("baidu_api_key", &["bce-v3/ALTAK-"], shape::PATH64, 40, 90),
    token("scaleway_access_key", &["SCW"], shape::UPPER_NUM, 17, 17),
    token("voyage_api_key", &["pa-"], shape::URL64, 40, 48).shaped(BodyShape::AllThree),
    token("modal_token", &["as-", "ak-"], shape::ALNUM, 22, 22).shaped(BodyShape::AllThree),
    token("runpod_api_key", &["rpa_"], shape::ALNUM, 32, 60),
    token("apify_token", &["apify_api_"], shape::ALNUM, 30, 50),
    token("posthog_key", &["phx_"], shape::URL64, 32, 60),
    token("sourcegraph_token", &["sgp_"], shape::WORD, 40, 80),
    token("axiom_token", &["xaat-", "xapt-"], shape::HEX_DASH, 36, 36),
    token("honeycomb_key", &["hcaik_", "hcamk_"], shape::ALNUM, 40, 70),
    token("launchdarkly_key", &["api-", "sdk-"], shape::HEX_DASH, 36, 36).shaped(BodyShape::Uuid),
    token("duffel_token", &["duffel_live_", "duffel_test_"], shape::URL64_PADDED, 40, 50),
    token("frameio_token", &["fio-u-"], shape::URL64_PADDED, 60, 70),
    token("infracost_key", &["ico-"], shape::ALNUM, 32, 32),
    token("mongodb_key", &["mdb_sa_sk_"], shape::URL64, 36, 60),
    token("aiven_password", &["AVNS_"], shape::URL64, 15, 40),
    token("cockroach_key", &["CCDB1_"], shape::WORD, 60, 90),
    token("xata_key", &["xau_"], shape::ALNUM, 30, 60),
    token("e2b_key", &["e2b_"], shape::HEX, 40, 40),
    token("cloudflare_api_token", &["cfut_", "cfat_"], shape::URL64, 36, 60),
    token("fly_token", &["FlyV1 fm2_"], shape::BASE64, 60, 2048),
    token("openai_api_key", &["sk-helicone-"], shape::URL64, 20, 60),
    token("wallet_private_key", &["xprv", "yprv", "zprv", "tprv"], shape::ALNUM, 100, 112),
    token("paseto", &[
        "v1.local.", "v2.local.", "v3.local.", "v4.local.", "v2.public.", "v3.public.",
        "v4.public.",
    ], shape::URL64_DOT, 60, 4096),
    token("minisign_secret_key", &["RWRTY0Iy"], shape::BASE64, 100, 300),
    token("nostr_secret_key", &["nsec1"], shape::LOWER_NUM, 58, 58),
    token("nostr_secret_key", &["ncryptsec1"], shape::LOWER_NUM, 100, 200),
    token("age_secret_key", &["AGE-SECRET-KEY-1"], shape::UPPER_NUM, 50, 70),
    token("age_secret_key", &["AGE-SECRET-KEY-PQ-1"], shape::UPPER_NUM, 50, 2048),
    token("age_secret_key", &["AGE-PLUGIN-"], shape::UPPER_DASH, 40, 2048),
];

#[cfg(test)]
pub(crate) mod tests;
