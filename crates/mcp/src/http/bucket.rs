//! How much may come in a time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Lets so many through a second without end, and twice as many at once.
pub(super) struct Bucket {
    per_second: f64,
    level: Mutex<Level>,
}

struct Level {
    drops: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn new(per_second: u32, now: Instant) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, level: Mutex::new(Level { drops: per_second * 2.0, at: now }) }
    }

    /// Takes one, or says how long to wait for it.
    pub(super) fn take(&self, now: Instant) -> Result<(), Duration> {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_duration_since(level.at).as_secs_f64();
        level.drops = (level.drops + passed * self.per_second).min(self.per_second * 2.0);
        level.at = level.at.max(now);
        if level.drops < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - level.drops) / self.per_second));
        }
        level.drops -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_many_come_at_once_and_then_as_many_as_a_second_gives() {
        let start = Instant::now();
        let bucket = Bucket::new(4, start);
        for _ in 0..8 {
            bucket.take(start).unwrap();
        }
        assert_eq!(bucket.take(start), Err(Duration::from_millis(250)));
        let later = start + Duration::from_secs(1);
        for _ in 0..4 {
            bucket.take(later).unwrap();
        }
        assert!(bucket.take(later).is_err());
    }

    #[test]
    fn a_long_rest_does_not_gather_more_than_twice_a_second() {
        let start = Instant::now();
        let bucket = Bucket::new(1, start);
        let later = start + Duration::from_secs(3600);
        assert!(bucket.take(later).is_ok());
        assert!(bucket.take(later).is_ok());
        assert!(bucket.take(later).is_err());
    }

    #[test]
    fn a_rate_of_none_is_a_rate_of_one() {
        let start = Instant::now();
        assert!(Bucket::new(0, start).take(start).is_ok());
    }
}
