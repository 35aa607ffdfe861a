//! Keys to other services: metadata in clear, secrets sealed or absent.

use crate::id::{AgentId, ItemId};
use crate::moment::Moment;
use crate::object::{object, vocabulary};

/// The payload of a credential whose secret was left behind on purpose.
pub const NOT_EXPORTED: &str = "<not-exported>";

object! {
    /// Every credential of the agent.
    pub struct Credentials {
        /// The credentials, in the runtime's order.
        #[schemars(extend("x-required" = true))]
        required credentials: Vec<Credential>,
    }
}

object! {
    /// One credential.
    pub struct Credential {
        /// This credential.
        required id: ItemId,
        /// The agent that uses it.
        required agent_id: AgentId,
        /// What it opens, such as `openai`.
        required service: String,
        /// What it is.
        required credential_type: CredentialType,
        /// For people.
        optional label: String,
        /// Capabilities that it makes possible.
        list capabilities_granted: String,
        /// Base64 of the sealed secret, or [`NOT_EXPORTED`].
        required encrypted_payload: String,
        /// How it was sealed.
        required encryption: Encryption,
        /// When it was first stored.
        required created_at: Moment,
        /// When it last changed.
        optional updated_at: Moment,
        /// When it was last replaced.
        optional last_rotated_at: Moment,
        /// When it stops working.
        optional expires_at: Moment,
        /// Free labels.
        list tags: String,
    }
}

object! {
    /// How a payload was sealed; none of it is secret.
    #[derive(Default)]
    pub struct Encryption {
        /// `xchacha20-poly1305` when we seal; `none` when nothing is there.
        required algorithm: String,
        /// How the key came from a passphrase; absent when a raw key was used.
        optional kdf: String,
        /// The costs and the salt of that.
        optional kdf_params: KdfParams,
        /// Base64; empty when nothing is there.
        required nonce: String,
    }
}

object! {
    /// The costs and the salt of a key derivation.
    pub struct KdfParams {
        /// KiB of memory.
        #[schemars(range(min = 1))]
        optional memory_cost: u32,
        /// Passes.
        #[schemars(range(min = 1))]
        optional time_cost: u32,
        /// Lanes.
        #[schemars(range(min = 1))]
        optional parallelism: u32,
        /// Base64 salt.
        optional salt: String,
    }
}

vocabulary! {
    /// What a credential is.
    pub enum CredentialType (unknown: Custom) {
        /// A key of an API.
        ApiKey = "api_key",
        /// An OAuth token.
        OauthToken = "oauth_token",
        /// The secret of a webhook.
        WebhookSecret = "webhook_secret",
        /// A session token.
        SessionToken = "session_token",
        /// An SSH key.
        SshKey = "ssh_key",
        /// A certificate.
        Certificate = "certificate",
        /// Anything else.
        Custom = "custom",
    }
}

impl Encryption {
    /// Records that nothing was sealed, because the secret was left behind.
    #[must_use]
    pub fn none() -> Self {
        Self { algorithm: "none".to_owned(), ..Self::default() }
    }
}
