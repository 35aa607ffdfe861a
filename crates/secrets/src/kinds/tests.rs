//! All kinds of secrets, so that each is described, and found by the corpus.

use std::collections::HashSet;

use super::*;

/// A kind of secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecretKind {
    /// For programs, such as `github_token`.
    pub(crate) name: &'static str,
    /// For people, one sentence.
    pub(crate) about: &'static str,
}

const fn kind(name: &'static str, about: &'static str) -> SecretKind {
    SecretKind { name, about }
}

/// Every kind that some rule finds.
pub(crate) const KINDS: &[SecretKind] = &[
    kind(
        "openai_api_key",
        "Key of the OpenAI API, of a project, a service account or an administrator.",
    ),
    kind("anthropic_api_key", "Key of the Anthropic API."),
    kind("openrouter_api_key", "Key of OpenRouter."),
    kind("langfuse_secret_key", "Secret key of Langfuse."),
    kind(
        "sk_api_key",
        "Key that begins with `sk-`, as many services give out (OpenAI, DeepSeek, LiteLLM).",
    ),
    kind("google_api_key", "Key of a Google API, Gemini included."),
    kind("google_oauth_secret", "Client secret of a Google OAuth application."),
    kind("google_oauth_token", "Access token of a Google account."),
    kind(
        "gcp_service_account_key",
        "Private key in the JSON file of a Google Cloud service account.",
    ),
    kind("aws_access_key_id", "Id of an AWS access key; its secret is usually near."),
    kind("aws_secret_access_key", "Secret access key of AWS."),
    kind("aws_bedrock_api_key", "Key of Amazon Bedrock."),
    kind("alibaba_access_key_id", "Id of an Alibaba Cloud access key."),
    kind("tencent_secret_id", "Secret id of Tencent Cloud."),
    kind("azure_storage_key", "Account key in a connection string of Azure Storage."),
    kind("azure_shared_access_key", "Shared access key in a connection string of Azure."),
    kind("azure_sas_signature", "Signature in a shared access URL of Azure."),
    kind("azure_client_secret", "Client secret of an application in Microsoft Entra."),
    kind("github_token", "Token of GitHub: personal, OAuth, application or refresh."),
    kind("github_fine_grained_token", "Fine-grained personal token of GitHub."),
    kind(
        "gitlab_token",
        "Token of GitLab: personal, runner, deploy, feed, trigger, agent or OAuth.",
    ),
    kind("bitbucket_app_password", "App password of Bitbucket."),
    kind("atlassian_api_token", "API token of Atlassian."),
    kind("slack_token", "Token of Slack: bot, user, application or configuration."),
    kind("slack_webhook", "Webhook of Slack: who knows the address may post."),
    kind("discord_bot_token", "Token of a Discord bot."),
    kind("discord_webhook", "Webhook of Discord: who knows the address may post."),
    kind("teams_webhook", "Webhook of Microsoft Teams: who knows the address may post."),
    kind("telegram_bot_token", "Token of a Telegram bot."),
    kind("stripe_secret_key", "Secret or restricted key of Stripe."),
    kind("stripe_webhook_secret", "Signing secret of a webhook (Stripe, Svix)."),
    kind("twilio_api_key", "API key of Twilio."),
    kind("twilio_auth_token", "Auth token of Twilio."),
    kind("sendgrid_api_key", "API key of SendGrid."),
    kind("mailgun_api_key", "API key of Mailgun."),
    kind("mailchimp_api_key", "API key of Mailchimp."),
    kind("brevo_api_key", "API key of Brevo."),
    kind("postmark_token", "Server token of Postmark."),
    kind("resend_api_key", "API key of Resend."),
    kind("npm_token", "Token of the npm registry."),
    kind("pypi_token", "Token of PyPI."),
    kind("crates_io_token", "Token of crates.io."),
    kind("rubygems_token", "Token of RubyGems."),
    kind("nuget_api_key", "API key of NuGet."),
    kind("clojars_token", "Deploy token of Clojars."),
    kind("docker_hub_token", "Access token of Docker Hub."),
    kind("registry_auth", "User and password for a container registry, in base64."),
    kind("digitalocean_token", "Token of DigitalOcean."),
    kind("heroku_api_key", "API key of Heroku."),
    kind("netlify_token", "Token of Netlify."),
    kind("vercel_token", "Token of Vercel."),
    kind("fly_token", "Token of Fly.io."),
    kind("render_api_key", "API key of Render."),
    kind("railway_token", "Token of Railway."),
    kind("hugging_face_token", "Token of Hugging Face."),
    kind("replicate_token", "Token of Replicate."),
    kind("groq_api_key", "API key of Groq."),
    kind("xai_api_key", "API key of xAI."),
    kind("perplexity_api_key", "API key of Perplexity."),
    kind("nvidia_api_key", "API key of NVIDIA."),
    kind("cerebras_api_key", "API key of Cerebras."),
    kind("together_api_key", "API key of Together."),
    kind("fireworks_api_key", "API key of Fireworks."),
    kind("jina_api_key", "API key of Jina."),
    kind("tavily_api_key", "API key of Tavily."),
    kind("firecrawl_api_key", "API key of Firecrawl."),
    kind("brave_search_api_key", "Key of Brave Search."),
    kind("pinecone_api_key", "API key of Pinecone."),
    kind("elevenlabs_api_key", "API key of ElevenLabs."),
    kind("langsmith_api_key", "API key of LangSmith."),
    kind("wandb_api_key", "API key of Weights & Biases."),
    kind("cohere_api_key", "API key of Cohere, known by the name it is assigned to."),
    kind("mistral_api_key", "API key of Mistral, known by the name it is assigned to."),
    kind("notion_token", "Token of a Notion integration."),
    kind("linear_api_key", "API key of Linear."),
    kind("airtable_token", "Personal token of Airtable."),
    kind("figma_token", "Token of Figma."),
    kind("asana_token", "Personal token of Asana."),
    kind("shopify_token", "Token or shared secret of Shopify."),
    kind("square_token", "Token or secret of Square."),
    kind("facebook_token", "Access token of Facebook or Instagram."),
    kind("paypal_token", "Access token of PayPal or Braintree."),
    kind("razorpay_key", "Key of Razorpay."),
    kind("databricks_token", "Token of Databricks."),
    kind("vault_token", "Token of HashiCorp Vault."),
    kind("terraform_token", "Token of Terraform Cloud."),
    kind("tailscale_key", "Key of Tailscale."),
    kind("cloudflare_api_token", "Token or key of Cloudflare."),
    kind("grafana_token", "Token of Grafana."),
    kind("new_relic_key", "Key of New Relic."),
    kind("sentry_token", "Token of Sentry."),
    kind("datadog_api_key", "Key of Datadog, known by the name it is assigned to."),
    kind("dynatrace_token", "Token of Dynatrace."),
    kind("postman_api_key", "API key of Postman."),
    kind("pulumi_token", "Token of Pulumi."),
    kind("doppler_token", "Token of Doppler."),
    kind("planetscale_token", "Token or password of PlanetScale."),
    kind("supabase_token", "Secret key or token of Supabase."),
    kind("neon_api_key", "API key of Neon."),
    kind("snyk_token", "Token of Snyk, known by the name it is assigned to."),
    kind("circleci_token", "Token of CircleCI."),
    kind("buildkite_token", "Token of Buildkite."),
    kind("contentful_token", "Token of Contentful."),
    kind("typeform_token", "Token of Typeform."),
    kind("readme_api_key", "API key of ReadMe."),
    kind("prefect_api_key", "API key of Prefect."),
    kind("flutterwave_key", "Secret key of Flutterwave."),
    kind("shippo_token", "Token of Shippo."),
    kind("easypost_key", "Key of EasyPost."),
    kind("dropbox_token", "Access token of Dropbox."),
    kind("onepassword_token", "Service account token or secret key of 1Password."),
    kind("openshift_token", "Token of OpenShift."),
    kind("adobe_client_secret", "Client secret of Adobe."),
    kind("jwt", "JSON Web Token."),
    kind("pem_private_key", "Private key in PEM: RSA, EC, DSA, PKCS 8, OpenSSH."),
    kind("pgp_private_key", "Private key block of PGP."),
    kind("age_secret_key", "Identity of age."),
    kind("wireguard_private_key", "Private or preshared key of WireGuard."),
    kind("oauth_login", "Access or refresh token of an OAuth login that an agent keeps."),
    kind("url_password", "Password in a URL, as in `scheme://user:password@host`."),
    kind("bearer_token", "Token after the word Bearer."),
    kind("basic_auth", "User and password in base64 after the word Basic."),
    kind("netrc_password", "Password in a netrc file."),
    kind("api_key", "Value assigned to a name such as `api_key` or `access_key`."),
    kind("token", "Value assigned to a name such as `access_token`."),
    kind("secret", "Value assigned to a name such as `client_secret`."),
    kind("password", "Value assigned to a name such as `password` or `passphrase`."),
    kind("private_key", "Value assigned to a name such as `private_key`."),
    kind("pin", "Number that opens something, named as a PIN or code."),
    kind("card_number", "Number of a payment card."),
    kind("recovery_code", "Code that opens an account in place of a second factor."),
    kind("one_time_secret", "Secret from which one-time passwords are made (TOTP)."),
    kind("nostr_secret_key", "Private key of a Nostr identity."),
    kind("card_code", "Security code of a payment card."),
    kind("session_cookie", "Value of a cookie that keeps somebody signed in."),
    kind("seed_phrase", "Words from which the keys of a wallet are made (BIP 39)."),
    kind("wallet_private_key", "Private key of a wallet, alone or extended, in base58."),
    kind("azure_service_key", "Key of an Azure service, known by the mark in it."),
    kind("zhipu_api_key", "API key of Zhipu AI."),
    kind("openai_session_token", "Session token of OpenAI."),
    kind("google_refresh_token", "Refresh token of a Google account."),
    kind("amazon_token", "Token or client secret of Amazon's selling and login services."),
    kind("mapbox_secret_token", "Secret token of Mapbox."),
    kind("hubspot_token", "Token of a HubSpot private application."),
    kind("clickup_token", "Personal token of ClickUp."),
    kind("intercom_token", "Access token of Intercom."),
    kind("salesforce_token", "Session id of Salesforce."),
    kind("twitch_token", "OAuth token of Twitch."),
    kind("yandex_token", "Token or key of Yandex."),
    kind("baidu_api_key", "API key of Baidu Cloud."),
    kind("scaleway_access_key", "Access key of Scaleway."),
    kind("voyage_api_key", "API key of Voyage AI."),
    kind("modal_token", "Token of Modal."),
    kind("runpod_api_key", "API key of RunPod."),
    kind("apify_token", "Token of Apify."),
    kind("posthog_key", "Personal key of PostHog."),
    kind("sourcegraph_token", "Token of Sourcegraph."),
    kind("axiom_token", "Token of Axiom."),
    kind("honeycomb_key", "Key of Honeycomb."),
    kind("launchdarkly_key", "Key of LaunchDarkly."),
    kind("duffel_token", "Token of Duffel."),
    kind("frameio_token", "Token of Frame.io."),
    kind("infracost_key", "API key of Infracost."),
    kind("mongodb_key", "Service account secret of MongoDB Atlas."),
    kind("aiven_password", "Password or token of Aiven."),
    kind("cockroach_key", "API key of CockroachDB Cloud."),
    kind("xata_key", "API key of Xata."),
    kind("e2b_key", "API key of E2B."),
    kind("paseto", "Platform-agnostic security token."),
    kind("minisign_secret_key", "Secret key of minisign or signify."),
];

#[test]
fn names_are_unique_and_every_prefix_has_a_kind() {
    let names: HashSet<_> = KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), KINDS.len());
    for prefix in PREFIXES.iter() {
        assert!(names.contains(prefix.kind), "{}", prefix.kind);
    }
}

#[test]
fn every_kind_is_described_in_a_sentence() {
    for kind in KINDS {
        assert!(kind.about.ends_with('.') && kind.about.len() > 10, "{}", kind.name);
        assert!(
            kind.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
        );
    }
}

#[test]
fn at_least_forty_kinds_of_secrets_are_known() {
    assert!(KINDS.len() >= 40, "{}", KINDS.len());
}
