//! Limits how many tokens of unknown clients are compared.
//!
//! The limit is ten wrong tokens a minute from one address. After that no token from the address is
//! compared, right or wrong, until the minute is over, so that a guess cannot even be tried. A
//! client that showed the token before on the same connection, or has a session, does not have to
//! wait: all programs of one machine come from the same address, and one that guesses must not lock
//! out the others.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::lock::locked;

/// How many wrong tokens of one address are compared in [`TIME`].
const MOST: usize = 10;
const TIME: Duration = Duration::from_secs(60);

/// How many addresses are counted separately; further ones count as one.
const ADDRESSES: usize = 1024;

/// The wrong tokens of the last minute, by where they came from.
#[derive(Default)]
pub(super) struct Guesses {
    by_address: Mutex<HashMap<Option<IpAddr>, VecDeque<Instant>>>,
}

impl Guesses {
    /// Counts a guess before it is compared. If there were too many, it must not be compared, and
    /// the error is how long that holds.
    pub(super) fn begin(&self, from: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut all = locked(&self.by_address);
        let times = times(&mut all, from, now);
        if times.len() >= MOST {
            let oldest = times.front().copied().unwrap_or(now);
            return Err(TIME.saturating_sub(now.saturating_duration_since(oldest)));
        }
        times.push_back(now);
        Ok(())
    }

    /// Takes back a guess that was none: the token was right.
    pub(super) fn was_right(&self, from: IpAddr, now: Instant) {
        times(&mut locked(&self.by_address), from, now).pop_back();
    }

    /// Counts a wrong token that was compared regardless of the limit.
    pub(super) fn was_wrong(&self, from: IpAddr, now: Instant) {
        let mut all = locked(&self.by_address);
        let times = times(&mut all, from, now);
        times.push_back(now);
        times.truncate(MOST);
    }
}

/// Returns when an address guessed wrong in the last minute.
fn times(
    all: &mut HashMap<Option<IpAddr>, VecDeque<Instant>>,
    from: IpAddr,
    now: Instant,
) -> &mut VecDeque<Instant> {
    let is_past = |time: &Instant| now.saturating_duration_since(*time) >= TIME;
    let mut name = Some(network(from));
    if !all.contains_key(&name) && all.len() >= ADDRESSES {
        all.retain(|_, times| times.back().is_some_and(|time| !is_past(time)));
        if all.len() >= ADDRESSES {
            name = None;
        }
    }
    let times = all.entry(name).or_default();
    while times.front().is_some_and(is_past) {
        times.pop_front();
    }
    times
}

/// Returns the key of an address: with IPv6 every client has a whole network of addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn ten_wrong_tokens_a_minute_are_looked_at_whenever_the_minute_begins() {
        let guesses = Guesses::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        for second in 0..10 {
            assert_eq!(guesses.begin(HERE, after(second)), Ok(()));
        }
        assert_eq!(guesses.begin(HERE, after(20)), Err(Duration::from_secs(40)));
        assert_eq!(guesses.begin(HERE, after(60)), Ok(()));
        assert_eq!(guesses.begin(HERE, after(60)), Err(Duration::from_secs(1)));
        let other = "192.168.7.7".parse().unwrap();
        assert_eq!(guesses.begin(other, after(60)), Ok(()), "another address");
    }

    #[test]
    fn right_tokens_are_no_guesses() {
        let guesses = Guesses::default();
        let now = Instant::now();
        for _ in 0..100 {
            assert_eq!(guesses.begin(HERE, now), Ok(()));
            guesses.was_right(HERE, now);
        }
        for _ in 0..100 {
            guesses.was_wrong(HERE, now);
        }
        assert!(guesses.begin(HERE, now).is_err());
    }

    #[test]
    fn nobody_gets_more_by_many_addresses() {
        let guesses = Guesses::default();
        let now = Instant::now();
        let neighbour = |number: u128| IpAddr::V6(Ipv6Addr::from_bits((0xfd << 120) | number));
        let looked_at =
            (0..100).filter(|value| guesses.begin(neighbour(*value), now).is_ok()).count();
        assert_eq!(looked_at, MOST);
        let far = |number: u128| neighbour(number << 64);
        let looked_at = (0..5000).filter(|value| guesses.begin(far(*value), now).is_ok()).count();
        assert!(looked_at < ADDRESSES + MOST, "{looked_at}");
        assert!(locked(&guesses.by_address).len() <= ADDRESSES + 1);
    }
}
