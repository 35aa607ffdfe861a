//! How much may come in a time.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::lock::locked;

/// Lets so many through a second without end, and twice as many at once. More wait for their turn.
pub(super) struct Bucket {
    per_second: f64,
    longest_wait: Duration,
    level: Mutex<FillLevel>,
}

struct FillLevel {
    /// Below zero where some wait already.
    drops: f64,
    at: Instant,
}

impl Bucket {
    /// Returns a bucket with a limit on the time that a caller waits for it.
    pub(super) fn new(per_second: u32, longest_wait: Duration, now: Instant) -> Self {
        let per_second = f64::from(per_second.max(1));
        let level = Mutex::new(FillLevel { drops: per_second * 2.0, at: now });
        Self { per_second, longest_wait, level }
    }

    /// Takes a turn, and returns how long to wait for it. If the wait would be too long, no turn is
    /// taken, and the error is the time after which to retry.
    pub(super) fn take(&self, now: Instant) -> Result<Duration, Duration> {
        let mut level = locked(&self.level);
        let passed = now.saturating_duration_since(level.at).as_secs_f64();
        level.drops = (level.drops + passed * self.per_second).min(self.per_second * 2.0);
        level.at = level.at.max(now);
        let left = level.drops - 1.0;
        let wait = Duration::from_secs_f64((-left).max(0.0) / self.per_second);
        if wait > self.longest_wait {
            return Err(wait - self.longest_wait);
        }
        level.drops = left;
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Result<Duration, Duration> = Ok(Duration::ZERO);

    #[test]
    fn twice_as_many_come_at_once_and_more_wait_for_their_turn() {
        let start = Instant::now();
        let bucket = Bucket::new(4, Duration::from_millis(500), start);
        for _ in 0..8 {
            assert_eq!(bucket.take(start), AT_ONCE);
        }
        assert_eq!(bucket.take(start), Ok(Duration::from_millis(250)));
        assert_eq!(bucket.take(start), Ok(Duration::from_millis(500)));
        assert_eq!(bucket.take(start), Err(Duration::from_millis(250)), "the queue has an end");
        let later = start + Duration::from_secs(1);
        for _ in 0..2 {
            assert_eq!(bucket.take(later), AT_ONCE);
        }
        assert_eq!(bucket.take(later), Ok(Duration::from_millis(250)));
    }

    #[test]
    fn a_long_rest_does_not_gather_more_than_twice_a_second() {
        let start = Instant::now();
        let bucket = Bucket::new(1, Duration::ZERO, start);
        let later = start + Duration::from_secs(3600);
        assert_eq!(bucket.take(later), AT_ONCE);
        assert_eq!(bucket.take(later), AT_ONCE);
        assert!(bucket.take(later).is_err());
    }

    #[test]
    fn a_rate_of_none_is_a_rate_of_one() {
        let start = Instant::now();
        assert_eq!(Bucket::new(0, Duration::ZERO, start).take(start), AT_ONCE);
    }
}
