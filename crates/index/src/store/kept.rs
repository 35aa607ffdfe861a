//! Decoded values of a store that are likely to be read again.
//!
//! A command queries once. A server queries the same index again and again, and spends most of that
//! time reading the same chunks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Values by number; a bounded number of them.
pub(super) struct Kept<K, V> {
    values: RefCell<HashMap<K, Arc<V>>>,
    most: usize,
}

impl<K: Copy + Eq + Hash, V> Kept<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self { values: RefCell::new(HashMap::new()), most }
    }

    pub(super) fn get(&self, key: K) -> Option<Arc<V>> {
        self.values.borrow().get(&key).map(Arc::clone)
    }

    /// Stores a value. When there are too many, all are dropped: needed ones are read again.
    pub(super) fn keep(&self, key: K, value: V) -> Arc<V> {
        let value = Arc::new(value);
        let mut values = self.values.borrow_mut();
        if values.len() >= self.most {
            values.clear();
        }
        values.insert(key, Arc::clone(&value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_kept_than_may_be() {
        let kept = Kept::new(2);
        for number in 0..5 {
            assert_eq!(*kept.keep(number, number * 10), number * 10);
            assert!(kept.values.borrow().len() <= 2);
        }
        assert_eq!(kept.get(4).as_deref(), Some(&40));
        assert_eq!(kept.get(0), None);
    }
}
