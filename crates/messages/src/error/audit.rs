//! Why a memory could not be examined, in words.

use anemone::audit::AuditError;

use super::UserError;

impl From<AuditError> for UserError {
    fn from(error: AuditError) -> Self {
        pass_on!(error, "memory", AuditError, [Config, Open, Io])
    }
}
