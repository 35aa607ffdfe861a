//! What an error of a provider means: retry, send less, or give up.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use serde_json::Value;

use crate::remote::settings::Patience;

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What to do about an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be temporary: retry.
    Again,
    /// Too many texts: send fewer from now on.
    TooMany,
    /// Too much text: one of them is too long, or all of them together are.
    TooLong,
    /// The key is wrong.
    Denied,
    /// Nothing exists at this address.
    Missing,
    /// The quota of the account is used up.
    Quota,
    /// Another permanent error.
    Rejected,
}

/// Classifies an error by its status, or by its message if the status is not specific.
pub(super) fn judge(status: u16, body: &[u8]) -> Verdict {
    let words = String::from_utf8_lossy(body).to_lowercase();
    let says = |any: &[&str]| any.iter().any(|some| words.contains(some));
    match status {
        402 => Verdict::Quota,
        401 | 403 => Verdict::Denied,
        404 => Verdict::Missing,
        // Gemini says "quota" for the limit per minute, which is temporary, and for that per day,
        // which is not.
        429 if says(&["insufficient_quota", "billing_hard_limit", "perday"]) => Verdict::Quota,
        // llama.cpp's answer to a text that exceeds its buffer.
        500 if says(&["too large to process", "context length", "context size"]) => {
            Verdict::TooLong
        }
        408 | 409 | 429 | 500..=599 => Verdict::Again,
        413 => Verdict::TooMany,
        400 | 422 => {
            // The number of tokens does not show how many other texts would fit.
            if says(&["too many tokens"]) {
                Verdict::TooLong
            } else if says(&[
                "too many",
                "batch size",
                "at most",
                "array",
                "per batch",
                "inputs exceed",
            ]) {
                Verdict::TooMany
            } else if says(&["too long", "too large", "context length", "maximum", "exceed"]) {
                Verdict::TooLong
            } else {
                Verdict::Rejected
            }
        }
        _ => Verdict::Rejected,
    }
}

/// The provider's message in an error, in any of the usual forms.
pub(super) fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return text.trim().to_owned();
    };
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let places = [
        Some(error),
        error.get("message"),
        value.get("message"),
        value.get("detail"),
        value.pointer("/detail/0/msg"),
    ];
    let found = places.into_iter().flatten().find_map(Value::as_str);
    found.map_or_else(|| text.trim().to_owned(), str::to_owned)
}

/// How long the provider wants us to wait, according to its error: Gemini has no header for it.
pub(super) fn asked_wait(body: &[u8]) -> Option<Duration> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let value = value.get(0).unwrap_or(&value);
    let details = value.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// How long to wait before the next try: as long as the provider asks for, and never zero.
pub(super) fn wait(tries: u32, asked: Option<Duration>, patience: &Patience) -> Duration {
    asked.unwrap_or_default().max(back_off(tries, noise())).min(patience.longest_wait)
}

/// Twice as long each time, less up to half of it, so that clients that were rejected together do
/// not return together.
fn back_off(tries: u32, noise: f64) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1 << tries.saturating_sub(1).min(16));
    doubled.min(LONGEST_WAIT).mul_f64(1.0 - noise / 2.0)
}

/// A number from zero to one that differs from process to process and from call to call.
fn noise() -> f64 {
    RandomState::new().hash_one(0u8) as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{Provider, RemoteSettings};

    #[test]
    fn errors_are_judged_by_status_and_words() {
        for (status, body, expected) in [
            (400, r#"{"error":{"message":"maximum context length is 8192"}}"#, Verdict::TooLong),
            (400, "the input length exceeds the context length", Verdict::TooLong),
            (400, "at most 100 requests can be in one batch", Verdict::TooMany),
            (422, "Too many inputs", Verdict::TooMany),
            (400, "Too many tokens in batch", Verdict::TooLong),
            (413, "", Verdict::TooMany),
            (400, "unknown field", Verdict::Rejected),
            (401, "", Verdict::Denied),
            (403, "", Verdict::Denied),
            (404, "", Verdict::Missing),
            (402, "", Verdict::Quota),
            (408, "", Verdict::Again),
            (409, "", Verdict::Again),
            (429, "slow down", Verdict::Again),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, Verdict::Quota),
            (429, "GenerateRequestsPerDayPerProjectPerModel", Verdict::Quota),
            (429, "RESOURCE_EXHAUSTED quota RequestsPerMinute", Verdict::Again),
            (500, "", Verdict::Again),
            (500, "input (600 tokens) is too large to process", Verdict::TooLong),
            (529, "", Verdict::Again),
            (418, "", Verdict::Rejected),
        ] {
            assert_eq!(judge(status, body.as_bytes()), expected, "{status} {body}");
        }
    }

    #[test]
    fn the_words_of_an_error_are_found_in_every_form() {
        for body in [
            r#"{"error":{"message":"no"}}"#,
            r#"[{"error":{"message":"no"}}]"#,
            r#"{"error":"no"}"#,
            r#"{"message":"no"}"#,
            r#"{"detail":"no"}"#,
            r#"{"detail":[{"msg":"no"}]}"#,
            " no\n",
        ] {
            assert_eq!(message(body.as_bytes()), "no", "{body}");
        }
        assert_eq!(message(br#"{"code":7}"#), r#"{"code":7}"#);
        assert_eq!(message(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn waits_double_up_to_half_a_minute() {
        let waits: Vec<u128> = (1..10).map(|tries| back_off(tries, 0.0).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
        assert_eq!(back_off(1, 1.0), Duration::from_millis(250));
        assert_eq!(back_off(u32::MAX, 0.0), LONGEST_WAIT);
    }

    #[test]
    fn a_provider_may_ask_for_a_longer_wait_but_not_for_a_shorter_one() {
        let patience = Patience {
            tries: 6,
            busy_tries: 14,
            request: Duration::from_secs(60),
            longest_wait: Duration::from_secs(120),
        };
        let minute = Duration::from_secs(60);
        assert_eq!(wait(1, Some(minute), &patience), minute);
        assert!(wait(1, Some(Duration::ZERO), &patience) >= FIRST_WAIT / 2);
        let hasty = Patience { longest_wait: Duration::from_millis(1), ..patience };
        assert_eq!(wait(9, None, &hasty), Duration::from_millis(1));
    }

    #[test]
    fn documents_outlast_a_limit_by_the_minute_even_with_the_shortest_waits() {
        let patience = RemoteSettings::new(Provider::OpenAi).patience;
        let shortest: Duration =
            (1..patience.busy_tries).map(|attempt| back_off(attempt, 1.0)).sum();
        assert!(shortest >= Duration::from_secs(120), "{shortest:?}");
    }

    #[test]
    fn a_wait_stands_in_the_body_where_there_is_no_header() {
        let body = |delay: &str| {
            let info = r#""@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"#;
            format!(r#"{{"error":{{"code":429,"details":[{{"x":1}},{{{info}"{delay}"}}]}}}}"#)
        };
        assert_eq!(asked_wait(body("34s").as_bytes()), Some(Duration::from_secs(34)));
        assert_eq!(asked_wait(body("1.5s").as_bytes()), Some(Duration::from_millis(1500)));
        for nonsense in ["-1s", "NaNs", "infs", "1e99s", "34", "s", ""] {
            assert_eq!(asked_wait(body(nonsense).as_bytes()), None, "{nonsense}");
        }
        assert_eq!(asked_wait(b"busy"), None);
        assert_eq!(asked_wait(br#"{"error":{"details":7}}"#), None);
    }

    #[test]
    fn noise_is_noise() {
        let found: Vec<f64> = (0..20).map(|_| noise()).collect();
        assert!(found.iter().all(|noise| (0.0..=1.0).contains(noise)));
        assert!(found.iter().any(|noise| (noise - found[0]).abs() > 0.0));
    }
}
