//! The kinds of secrets we know, and the prefixes by which most of them are known.

use crate::shape::{self, Alphabet};

/// A kind of secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// For programs, such as `github_token`.
    pub name: &'static str,
    /// For people, one sentence.
    pub about: &'static str,
}

/// A literal with a body behind it.
#[derive(Debug)]
pub(crate) struct Prefix {
    pub(crate) kind: &'static str,
    /// In its own case.
    pub(crate) literal: &'static str,
    /// What the body is made of.
    pub(crate) alphabet: Alphabet,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// What else must hold of the body.
    pub(crate) shape: Shape,
    /// Whether the literal belongs to the secret; an address or a name does not.
    pub(crate) literal_is_secret: bool,
}

/// What must hold of a body beside its length and alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
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
}

const fn token(
    kind: &'static str,
    literal: &'static str,
    alphabet: Alphabet,
    least: usize,
    most: usize,
) -> Prefix {
    shaped(kind, literal, alphabet, least, most, Shape::Ordinary)
}

const fn shaped(
    kind: &'static str,
    literal: &'static str,
    alphabet: Alphabet,
    least: usize,
    most: usize,
    shape: Shape,
) -> Prefix {
    Prefix { kind, literal, alphabet, least, most, shape, literal_is_secret: true }
}

const fn behind(
    kind: &'static str,
    literal: &'static str,
    alphabet: Alphabet,
    least: usize,
    most: usize,
    shape: Shape,
) -> Prefix {
    Prefix { kind, literal, alphabet, least, most, shape, literal_is_secret: false }
}

/// Every kind, in the order in which they are documented.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "openai_api_key",
        about: "Key of the OpenAI API, of a project, a service account or an administrator.",
    },
    Kind { name: "anthropic_api_key", about: "Key of the Anthropic API." },
    Kind { name: "openrouter_api_key", about: "Key of OpenRouter." },
    Kind { name: "langfuse_secret_key", about: "Secret key of Langfuse." },
    Kind {
        name: "sk_api_key",
        about: "Key that begins with `sk-`, as many services give out (OpenAI, DeepSeek, LiteLLM).",
    },
    Kind { name: "google_api_key", about: "Key of a Google API, Gemini included." },
    Kind { name: "google_oauth_secret", about: "Client secret of a Google OAuth application." },
    Kind { name: "google_oauth_token", about: "Access token of a Google account." },
    Kind {
        name: "gcp_service_account_key",
        about: "Private key in the JSON file of a Google Cloud service account.",
    },
    Kind {
        name: "aws_access_key_id",
        about: "Id of an AWS access key; its secret is usually near.",
    },
    Kind { name: "aws_secret_access_key", about: "Secret access key of AWS." },
    Kind { name: "aws_bedrock_api_key", about: "Key of Amazon Bedrock." },
    Kind { name: "alibaba_access_key_id", about: "Id of an Alibaba Cloud access key." },
    Kind { name: "tencent_secret_id", about: "Secret id of Tencent Cloud." },
    Kind {
        name: "azure_storage_key",
        about: "Account key in a connection string of Azure Storage.",
    },
    Kind {
        name: "azure_shared_access_key",
        about: "Shared access key in a connection string of Azure.",
    },
    Kind { name: "azure_sas_signature", about: "Signature in a shared access URL of Azure." },
    Kind {
        name: "azure_client_secret",
        about: "Client secret of an application in Microsoft Entra.",
    },
    Kind {
        name: "github_token",
        about: "Token of GitHub: personal, OAuth, application or refresh.",
    },
    Kind { name: "github_fine_grained_token", about: "Fine-grained personal token of GitHub." },
    Kind {
        name: "gitlab_token",
        about: "Token of GitLab: personal, runner, deploy, feed, trigger, agent or OAuth.",
    },
    Kind { name: "bitbucket_app_password", about: "App password of Bitbucket." },
    Kind { name: "atlassian_api_token", about: "API token of Atlassian." },
    Kind { name: "slack_token", about: "Token of Slack: bot, user, application or configuration." },
    Kind { name: "slack_webhook", about: "Webhook of Slack: who knows the address may post." },
    Kind { name: "discord_bot_token", about: "Token of a Discord bot." },
    Kind { name: "discord_webhook", about: "Webhook of Discord: who knows the address may post." },
    Kind {
        name: "teams_webhook",
        about: "Webhook of Microsoft Teams: who knows the address may post.",
    },
    Kind { name: "telegram_bot_token", about: "Token of a Telegram bot." },
    Kind { name: "stripe_secret_key", about: "Secret or restricted key of Stripe." },
    Kind { name: "stripe_webhook_secret", about: "Signing secret of a webhook (Stripe, Svix)." },
    Kind { name: "twilio_api_key", about: "API key of Twilio." },
    Kind { name: "twilio_auth_token", about: "Auth token of Twilio." },
    Kind { name: "sendgrid_api_key", about: "API key of SendGrid." },
    Kind { name: "mailgun_api_key", about: "API key of Mailgun." },
    Kind { name: "mailchimp_api_key", about: "API key of Mailchimp." },
    Kind { name: "brevo_api_key", about: "API key of Brevo." },
    Kind { name: "postmark_token", about: "Server token of Postmark." },
    Kind { name: "resend_api_key", about: "API key of Resend." },
    Kind { name: "npm_token", about: "Token of the npm registry." },
    Kind { name: "pypi_token", about: "Token of PyPI." },
    Kind { name: "crates_io_token", about: "Token of crates.io." },
    Kind { name: "rubygems_token", about: "Token of RubyGems." },
    Kind { name: "nuget_api_key", about: "API key of NuGet." },
    Kind { name: "clojars_token", about: "Deploy token of Clojars." },
    Kind { name: "docker_hub_token", about: "Access token of Docker Hub." },
    Kind { name: "registry_auth", about: "User and password for a container registry, in base64." },
    Kind { name: "digitalocean_token", about: "Token of DigitalOcean." },
    Kind { name: "heroku_api_key", about: "API key of Heroku." },
    Kind { name: "netlify_token", about: "Token of Netlify." },
    Kind { name: "vercel_token", about: "Token of Vercel." },
    Kind { name: "fly_token", about: "Token of Fly.io." },
    Kind { name: "render_api_key", about: "API key of Render." },
    Kind { name: "railway_token", about: "Token of Railway." },
    Kind { name: "hugging_face_token", about: "Token of Hugging Face." },
    Kind { name: "replicate_token", about: "Token of Replicate." },
    Kind { name: "groq_api_key", about: "API key of Groq." },
    Kind { name: "xai_api_key", about: "API key of xAI." },
    Kind { name: "perplexity_api_key", about: "API key of Perplexity." },
    Kind { name: "nvidia_api_key", about: "API key of NVIDIA." },
    Kind { name: "cerebras_api_key", about: "API key of Cerebras." },
    Kind { name: "together_api_key", about: "API key of Together." },
    Kind { name: "fireworks_api_key", about: "API key of Fireworks." },
    Kind { name: "jina_api_key", about: "API key of Jina." },
    Kind { name: "tavily_api_key", about: "API key of Tavily." },
    Kind { name: "firecrawl_api_key", about: "API key of Firecrawl." },
    Kind { name: "brave_search_api_key", about: "Key of Brave Search." },
    Kind { name: "pinecone_api_key", about: "API key of Pinecone." },
    Kind { name: "elevenlabs_api_key", about: "API key of ElevenLabs." },
    Kind { name: "langsmith_api_key", about: "API key of LangSmith." },
    Kind { name: "wandb_api_key", about: "API key of Weights & Biases." },
    Kind {
        name: "cohere_api_key",
        about: "API key of Cohere, known by the name it is assigned to.",
    },
    Kind {
        name: "mistral_api_key",
        about: "API key of Mistral, known by the name it is assigned to.",
    },
    Kind { name: "notion_token", about: "Token of a Notion integration." },
    Kind { name: "linear_api_key", about: "API key of Linear." },
    Kind { name: "airtable_token", about: "Personal token of Airtable." },
    Kind { name: "figma_token", about: "Token of Figma." },
    Kind { name: "asana_token", about: "Personal token of Asana." },
    Kind { name: "shopify_token", about: "Token or shared secret of Shopify." },
    Kind { name: "square_token", about: "Token or secret of Square." },
    Kind { name: "facebook_token", about: "Access token of Facebook or Instagram." },
    Kind { name: "paypal_token", about: "Access token of PayPal or Braintree." },
    Kind { name: "razorpay_key", about: "Key of Razorpay." },
    Kind { name: "databricks_token", about: "Token of Databricks." },
    Kind { name: "vault_token", about: "Token of HashiCorp Vault." },
    Kind { name: "terraform_token", about: "Token of Terraform Cloud." },
    Kind { name: "tailscale_key", about: "Key of Tailscale." },
    Kind { name: "cloudflare_api_token", about: "Token or key of Cloudflare." },
    Kind { name: "grafana_token", about: "Token of Grafana." },
    Kind { name: "new_relic_key", about: "Key of New Relic." },
    Kind { name: "sentry_token", about: "Token of Sentry." },
    Kind { name: "datadog_api_key", about: "Key of Datadog, known by the name it is assigned to." },
    Kind { name: "dynatrace_token", about: "Token of Dynatrace." },
    Kind { name: "postman_api_key", about: "API key of Postman." },
    Kind { name: "pulumi_token", about: "Token of Pulumi." },
    Kind { name: "doppler_token", about: "Token of Doppler." },
    Kind { name: "planetscale_token", about: "Token or password of PlanetScale." },
    Kind { name: "supabase_token", about: "Secret key or token of Supabase." },
    Kind { name: "neon_api_key", about: "API key of Neon." },
    Kind { name: "snyk_token", about: "Token of Snyk, known by the name it is assigned to." },
    Kind { name: "circleci_token", about: "Token of CircleCI." },
    Kind { name: "buildkite_token", about: "Token of Buildkite." },
    Kind { name: "contentful_token", about: "Token of Contentful." },
    Kind { name: "typeform_token", about: "Token of Typeform." },
    Kind { name: "readme_api_key", about: "API key of ReadMe." },
    Kind { name: "prefect_api_key", about: "API key of Prefect." },
    Kind { name: "flutterwave_key", about: "Secret key of Flutterwave." },
    Kind { name: "shippo_token", about: "Token of Shippo." },
    Kind { name: "easypost_key", about: "Key of EasyPost." },
    Kind { name: "dropbox_token", about: "Access token of Dropbox." },
    Kind { name: "onepassword_token", about: "Service account token or secret key of 1Password." },
    Kind { name: "openshift_token", about: "Token of OpenShift." },
    Kind { name: "adobe_client_secret", about: "Client secret of Adobe." },
    Kind { name: "jwt", about: "JSON Web Token." },
    Kind { name: "pem_private_key", about: "Private key in PEM: RSA, EC, DSA, PKCS 8, OpenSSH." },
    Kind { name: "pgp_private_key", about: "Private key block of PGP." },
    Kind { name: "age_secret_key", about: "Identity of age." },
    Kind { name: "wireguard_private_key", about: "Private or preshared key of WireGuard." },
    Kind {
        name: "oauth_login",
        about: "Access or refresh token of an OAuth login that an agent keeps.",
    },
    Kind { name: "url_password", about: "Password in a URL, as in `scheme://user:password@host`." },
    Kind { name: "bearer_token", about: "Token after the word Bearer." },
    Kind { name: "basic_auth", about: "User and password in base64 after the word Basic." },
    Kind { name: "netrc_password", about: "Password in a netrc file." },
    Kind { name: "api_key", about: "Value assigned to a name such as `api_key` or `access_key`." },
    Kind { name: "token", about: "Value assigned to a name such as `access_token`." },
    Kind { name: "secret", about: "Value assigned to a name such as `client_secret`." },
    Kind {
        name: "password",
        about: "Value assigned to a name such as `password` or `passphrase`.",
    },
    Kind { name: "private_key", about: "Value assigned to a name such as `private_key`." },
];

/// Every prefix. One position may have several; the longest literal is the most specific.
#[rustfmt::skip]
pub(crate) const PREFIXES: &[Prefix] = &[
    token("openai_api_key", "sk-proj-", shape::URL64, 16, 400),
    token("openai_api_key", "sk-svcacct-", shape::URL64, 16, 400),
    token("openai_api_key", "sk-admin-", shape::URL64, 16, 400),
    token("openai_api_key", "sk-None-", shape::URL64, 16, 400),
    token("anthropic_api_key", "sk-ant-", shape::URL64, 8, 400),
    token("openrouter_api_key", "sk-or-", shape::URL64, 8, 400),
    token("langfuse_secret_key", "sk-lf-", shape::URL64, 20, 100),
    shaped("sk_api_key", "sk-", shape::URL64, 12, 400, Shape::NotWords),
    token("google_api_key", "AIza", shape::URL64, 35, 35),
    token("google_oauth_secret", "GOCSPX-", shape::URL64, 24, 60),
    token("google_oauth_token", "ya29.", shape::URL64_DOT, 30, 1024),
    token("aws_access_key_id", "AKIA", shape::UPPER_NUM, 16, 16),
    token("aws_access_key_id", "ASIA", shape::UPPER_NUM, 16, 16),
    token("aws_access_key_id", "ABIA", shape::UPPER_NUM, 16, 16),
    token("aws_access_key_id", "ACCA", shape::UPPER_NUM, 16, 16),
    token("aws_bedrock_api_key", "ABSK", shape::BASE64, 100, 300),
    token("aws_bedrock_api_key", "bedrock-api-key-", shape::BASE64, 40, 4096),
    shaped("alibaba_access_key_id", "LTAI", shape::ALNUM, 12, 26, Shape::AllThree),
    shaped("tencent_secret_id", "AKID", shape::ALNUM, 32, 48, Shape::AllThree),
    behind("azure_storage_key", "AccountKey=", shape::BASE64, 40, 100, Shape::Ordinary),
    behind("azure_shared_access_key", "SharedAccessKey=", shape::BASE64, 40, 100, Shape::Ordinary),
    behind("azure_sas_signature", "sig=", shape::QUERY64, 40, 120, Shape::AllThree),
    token("github_token", "ghp_", shape::ALNUM, 36, 255),
    token("github_token", "gho_", shape::ALNUM, 36, 255),
    token("github_token", "ghu_", shape::ALNUM, 36, 255),
    token("github_token", "ghs_", shape::ALNUM, 36, 255),
    token("github_token", "ghr_", shape::ALNUM, 36, 255),
    token("github_fine_grained_token", "github_pat_", shape::WORD, 36, 255),
    token("gitlab_token", "glpat-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glrt-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "gldt-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glft-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glsoat-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glcbt-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glptt-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glagent-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "gloas-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glimt-", shape::URL64_DOT, 16, 320),
    token("gitlab_token", "glffct-", shape::URL64_DOT, 16, 320),
    shaped("bitbucket_app_password", "ATBB", shape::ALNUM, 28, 60, Shape::AllThree),
    token("atlassian_api_token", "ATATT3x", shape::URL64_PADDED, 60, 400),
    token("atlassian_api_token", "ATCTT3x", shape::URL64_PADDED, 60, 400),
    token("slack_token", "xoxb-", shape::URL64, 16, 400),
    token("slack_token", "xoxp-", shape::URL64, 16, 400),
    token("slack_token", "xoxa-", shape::URL64, 16, 400),
    token("slack_token", "xoxr-", shape::URL64, 16, 400),
    token("slack_token", "xoxs-", shape::URL64, 16, 400),
    token("slack_token", "xoxo-", shape::URL64, 16, 400),
    token("slack_token", "xoxc-", shape::URL64, 16, 400),
    token("slack_token", "xoxd-", shape::URL64, 16, 400),
    token("slack_token", "xoxe-", shape::URL64, 16, 400),
    token("slack_token", "xapp-", shape::URL64, 16, 400),
    token("slack_token", "xoxe.", shape::URL64_DOT, 20, 400),
    behind("slack_webhook", "hooks.slack.com/services/", shape::PATH64, 30, 120, Shape::Path),
    behind("slack_webhook", "hooks.slack.com/workflows/", shape::PATH64, 30, 160, Shape::Path),
    behind("discord_webhook", "/api/webhooks/", shape::PATH64, 60, 140, Shape::DiscordWebhook),
    behind("teams_webhook", ".webhook.office.com/webhookb2/", shape::UNRESERVED_AT, 60, 300, Shape::Ordinary),
    token("stripe_secret_key", "sk_live_", shape::ALNUM, 16, 255),
    token("stripe_secret_key", "sk_test_", shape::ALNUM, 16, 255),
    token("stripe_secret_key", "rk_live_", shape::ALNUM, 16, 255),
    token("stripe_secret_key", "rk_test_", shape::ALNUM, 16, 255),
    token("stripe_webhook_secret", "whsec_", shape::BASE64, 24, 100),
    token("twilio_api_key", "SK", shape::HEX, 32, 32),
    shaped("sendgrid_api_key", "SG.", shape::URL64_DOT, 50, 90, Shape::SendGrid),
    token("mailgun_api_key", "key-", shape::HEX, 32, 32),
    token("brevo_api_key", "xkeysib-", shape::URL64, 60, 120),
    token("brevo_api_key", "xsmtpsib-", shape::URL64, 60, 120),
    shaped("resend_api_key", "re_", shape::WORD, 24, 60, Shape::AllThree),
    token("npm_token", "npm_", shape::ALNUM, 36, 36),
    token("pypi_token", "pypi-", shape::URL64, 60, 400),
    token("pypi_token", "pypi-AgE", shape::URL64, 30, 400),
    shaped("crates_io_token", "cio", shape::ALNUM, 32, 32, Shape::AllThree),
    token("rubygems_token", "rubygems_", shape::HEX, 48, 48),
    token("nuget_api_key", "oy2", shape::LOWER_NUM, 43, 43),
    token("clojars_token", "CLOJARS_", shape::LOWER_NUM, 60, 60),
    token("docker_hub_token", "dckr_pat_", shape::URL64, 20, 60),
    token("docker_hub_token", "dckr_oat_", shape::URL64, 20, 60),
    token("digitalocean_token", "dop_v1_", shape::HEX, 64, 64),
    token("digitalocean_token", "doo_v1_", shape::HEX, 64, 64),
    token("digitalocean_token", "dor_v1_", shape::HEX, 64, 64),
    token("heroku_api_key", "HRKU-", shape::URL64, 30, 80),
    token("netlify_token", "nfp_", shape::ALNUM, 36, 60),
    token("netlify_token", "nfc_", shape::ALNUM, 36, 60),
    token("vercel_token", "vcp_", shape::ALNUM, 24, 80),
    token("vercel_token", "vci_", shape::ALNUM, 24, 80),
    token("vercel_token", "vca_", shape::ALNUM, 24, 80),
    token("vercel_token", "vcr_", shape::ALNUM, 24, 80),
    token("vercel_token", "vck_", shape::ALNUM, 24, 80),
    token("vercel_token", "vercel_blob_rw_", shape::ALNUM, 24, 80),
    token("fly_token", "fm2_", shape::BASE64, 60, 2048),
    token("fly_token", "fm1r_", shape::BASE64, 60, 2048),
    token("render_api_key", "rnd_", shape::ALNUM, 24, 60),
    token("hugging_face_token", "hf_", shape::ALNUM, 30, 60),
    token("hugging_face_token", "api_org_", shape::ALNUM, 30, 60),
    token("replicate_token", "r8_", shape::ALNUM, 30, 60),
    token("groq_api_key", "gsk_", shape::ALNUM, 30, 80),
    token("xai_api_key", "xai-", shape::ALNUM, 40, 120),
    token("perplexity_api_key", "pplx-", shape::ALNUM, 30, 80),
    token("nvidia_api_key", "nvapi-", shape::URL64, 40, 100),
    token("cerebras_api_key", "csk-", shape::ALNUM, 30, 80),
    token("together_api_key", "tgp_v1_", shape::URL64, 30, 80),
    shaped("fireworks_api_key", "fw_", shape::ALNUM, 22, 40, Shape::AllThree),
    token("jina_api_key", "jina_", shape::URL64, 40, 100),
    shaped("tavily_api_key", "tvly-", shape::URL64, 20, 80, Shape::NotWords),
    token("firecrawl_api_key", "fc-", shape::HEX, 32, 32),
    shaped("brave_search_api_key", "BSA", shape::URL64, 26, 30, Shape::AllThree),
    token("pinecone_api_key", "pcsk_", shape::WORD, 40, 120),
    token("elevenlabs_api_key", "sk_", shape::HEX, 48, 48),
    token("langsmith_api_key", "lsv2_pt_", shape::WORD, 36, 80),
    token("langsmith_api_key", "lsv2_sk_", shape::WORD, 36, 80),
    token("wandb_api_key", "wandb_v1_", shape::WORD, 40, 120),
    token("notion_token", "secret_", shape::ALNUM, 43, 43),
    token("notion_token", "ntn_", shape::ALNUM, 40, 60),
    token("linear_api_key", "lin_api_", shape::ALNUM, 30, 60),
    token("linear_api_key", "lin_oauth_", shape::ALNUM, 30, 80),
    token("linear_api_key", "lin_wh_", shape::ALNUM, 30, 60),
    shaped("airtable_token", "pat", shape::ALNUM_DOT, 79, 79, Shape::Airtable),
    token("figma_token", "figd_", shape::URL64, 36, 60),
    token("figma_token", "figu_", shape::URL64, 36, 60),
    token("shopify_token", "shpat_", shape::HEX_ANY, 32, 32),
    token("shopify_token", "shpss_", shape::HEX_ANY, 32, 32),
    token("shopify_token", "shpca_", shape::HEX_ANY, 32, 32),
    token("shopify_token", "shppa_", shape::HEX_ANY, 32, 32),
    token("square_token", "sq0atp-", shape::URL64, 22, 60),
    token("square_token", "sq0csp-", shape::URL64, 40, 60),
    token("square_token", "sq0idp-", shape::URL64, 22, 60),
    shaped("square_token", "EAAA", shape::URL64, 60, 60, Shape::AllThree),
    token("facebook_token", "EAACEdEose0c", shape::ALNUM, 20, 400),
    token("facebook_token", "EAAG", shape::ALNUM, 80, 400),
    token("facebook_token", "EAAB", shape::ALNUM, 80, 400),
    token("facebook_token", "IGQV", shape::URL64, 80, 400),
    token("paypal_token", "access_token$production$", shape::WORD_DOLLAR, 40, 80),
    token("razorpay_key", "rzp_live_", shape::ALNUM, 14, 30),
    token("databricks_token", "dapi", shape::HEX_DASH, 32, 34),
    token("vault_token", "hvs.", shape::URL64_DOT, 24, 400),
    token("vault_token", "hvb.", shape::URL64_DOT, 24, 400),
    token("vault_token", "hvr.", shape::URL64_DOT, 24, 400),
    behind("terraform_token", ".atlasv1.", shape::URL64, 50, 100, Shape::Ordinary),
    token("tailscale_key", "tskey-", shape::URL64, 16, 120),
    token("cloudflare_api_token", "v1.0-", shape::HEX_DASH, 150, 200),
    token("grafana_token", "glsa_", shape::WORD, 36, 80),
    token("grafana_token", "glc_", shape::BASE64, 40, 400),
    token("new_relic_key", "NRAK-", shape::UPPER_NUM, 27, 27),
    token("new_relic_key", "NRII-", shape::URL64, 32, 32),
    token("new_relic_key", "NRJS-", shape::HEX, 19, 19),
    token("sentry_token", "sntrys_", shape::SENTRY, 60, 400),
    token("sentry_token", "sntryu_", shape::HEX, 64, 64),
    token("dynatrace_token", "dt0c01.", shape::URL64_DOT, 80, 100),
    token("postman_api_key", "PMAK-", shape::URL64, 59, 59),
    token("pulumi_token", "pul-", shape::HEX, 40, 40),
    token("doppler_token", "dp.pt.", shape::ALNUM_DOT, 40, 70),
    token("doppler_token", "dp.st.", shape::ALNUM_DOT, 40, 70),
    token("doppler_token", "dp.ct.", shape::ALNUM_DOT, 40, 70),
    token("doppler_token", "dp.sa.", shape::ALNUM_DOT, 40, 70),
    token("doppler_token", "dp.scim.", shape::ALNUM_DOT, 40, 70),
    token("doppler_token", "dp.audit.", shape::ALNUM_DOT, 40, 70),
    token("planetscale_token", "pscale_tkn_", shape::UNRESERVED, 30, 70),
    token("planetscale_token", "pscale_pw_", shape::UNRESERVED, 30, 70),
    token("planetscale_token", "pscale_oauth_", shape::UNRESERVED, 30, 70),
    token("supabase_token", "sbp_", shape::HEX, 40, 40),
    token("supabase_token", "sb_secret_", shape::URL64, 24, 80),
    token("neon_api_key", "napi_", shape::LOWER_NUM, 60, 70),
    token("circleci_token", "CCIPAT_", shape::WORD, 40, 90),
    token("circleci_token", "CCIPRJ_", shape::WORD, 40, 90),
    token("buildkite_token", "bkua_", shape::HEX, 40, 40),
    token("contentful_token", "CFPAT-", shape::URL64, 43, 43),
    token("typeform_token", "tfp_", shape::UNRESERVED, 40, 80),
    token("readme_api_key", "rdme_", shape::LOWER_NUM, 60, 80),
    token("prefect_api_key", "pnu_", shape::ALNUM, 36, 36),
    token("flutterwave_key", "FLWSECK", shape::URL64, 20, 60),
    token("shippo_token", "shippo_live_", shape::HEX, 40, 40),
    token("shippo_token", "shippo_test_", shape::HEX, 40, 40),
    token("easypost_key", "EZAK", shape::ALNUM, 54, 54),
    token("easypost_key", "EZTK", shape::ALNUM, 54, 54),
    token("dropbox_token", "sl.", shape::URL64_DOT, 100, 2048),
    token("onepassword_token", "ops_eyJ", shape::URL64_PADDED, 100, 2048),
    shaped("onepassword_token", "A3-", shape::UPPER_DASH, 32, 40, Shape::OnePassword),
    token("openshift_token", "sha256~", shape::URL64, 43, 43),
    token("adobe_client_secret", "p8e-", shape::ALNUM, 32, 32),
    token("age_secret_key", "AGE-SECRET-KEY-1", shape::UPPER_NUM, 50, 70),
    token("age_secret_key", "AGE-SECRET-KEY-PQ-1", shape::UPPER_NUM, 50, 2048),
    token("age_secret_key", "AGE-PLUGIN-", shape::UPPER_DASH, 40, 2048),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_prefix_has_a_kind() {
        let names: HashSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
        for prefix in PREFIXES {
            assert!(names.contains(prefix.kind), "{}", prefix.kind);
        }
    }

    #[test]
    fn every_kind_is_described_in_a_sentence() {
        for kind in KINDS {
            assert!(kind.about.ends_with('.') && kind.about.len() > 10, "{}", kind.name);
            assert!(
                kind.name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
            );
        }
    }
}
