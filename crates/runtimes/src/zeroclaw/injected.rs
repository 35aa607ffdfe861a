//! What ZeroClaw puts into messages, or sends in the place of a user.

use crate::kit::conversation::injected::InjectedText;

pub(super) const INJECTED: InjectedText = InjectedText {
    memories: &["[Memory context]"],
    messages: &["[heartbeat task", "[distilled_"],
    ..InjectedText::NONE
};
