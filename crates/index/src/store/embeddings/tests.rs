//! Tests of the cache of embeddings.

use super::super::tests::filled;
use super::*;

fn identity(dimensions: usize) -> ModelIdentity {
    let (provider, model) = ("test".to_owned(), "m".to_owned());
    ModelIdentity { provider, model, dimensions }
}

/// A store whose cache has room for four vectors, or for 40 bytes of them.
fn few(between: i64) -> (tempfile::TempDir, Store) {
    let (folder, mut store) = filled(&[]);
    store.cache.bounds = Bounds { vectors: 4, bytes: 40, between };
    (folder, store)
}

fn put(store: &mut Store, dimensions: usize, number: u8) {
    let vector = vec![f32::from(number); dimensions];
    store.cache_vectors(&identity(dimensions), &[([number; 32], vector)]).unwrap();
}

fn begin_turn(store: &mut Store) {
    store.begin_turn(&identity(2), 0).unwrap();
}

fn there(store: &Store, dimensions: usize) -> Vec<u8> {
    let numbers: Vec<u8> = (0..=u8::MAX).collect();
    let hashes: Vec<ContentHash> = numbers.iter().map(|number| [*number; 32]).collect();
    let known = store.are_cached(&identity(dimensions), &hashes).unwrap();
    numbers
        .into_iter()
        .zip(known)
        .filter(|(_, is_known)| *is_known)
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn what_was_not_used_for_the_longest_time_goes_first() {
    let (_folder, mut store) = few(1);
    for number in 0..4 {
        begin_turn(&mut store);
        put(&mut store, 2, number);
    }
    begin_turn(&mut store);
    store.use_vectors(&identity(2), &[[0; 32]]).unwrap();
    put(&mut store, 2, 4);
    assert_eq!(there(&store, 2), [0, 2, 3, 4]);
    put(&mut store, 2, 5);
    assert_eq!(there(&store, 2), [0, 3, 4, 5]);
}

#[test]
fn large_vectors_leave_room_for_few() {
    let (_folder, mut store) = few(1);
    (0..3).for_each(|number| put(&mut store, 2, number));
    // 40 bytes are two of these.
    for number in 3..6 {
        begin_turn(&mut store);
        put(&mut store, 8, number);
    }
    assert_eq!((there(&store, 2).len(), there(&store, 8)), (0, vec![4, 5]));
}

#[test]
fn the_bounds_hold_however_often_something_is_used_in_between() {
    let (_folder, mut store) = few(3);
    for number in 0..100 {
        begin_turn(&mut store);
        store.use_vectors(&identity(2), &[[number; 32]]).unwrap();
        put(&mut store, 2, number);
        let there = there(&store, 2);
        // Two more than fit are not counted yet.
        assert!(there.len() <= 6 && there.contains(&number), "{there:?}");
    }
}

#[test]
fn a_turn_that_is_too_large_keeps_what_it_had_first() {
    let (_folder, mut store) = few(1);
    let all: Vec<ContentHash> = (0..10).map(|number| [number; 32]).collect();
    for _ in 0..3 {
        assert!(!store.begin_turn(&identity(2), 10).unwrap());
        store.use_vectors(&identity(2), &all).unwrap();
        for number in 0..10 {
            if !there(&store, 2).contains(&number) {
                put(&mut store, 2, number);
            }
        }
        assert_eq!(there(&store, 2), [0, 1, 2, 3]);
    }
}

#[test]
fn the_longest_vectors_are_kept_in_full_number() {
    let bounds = Keeping::default().bounds;
    assert!(bounds.hold((bounds.vectors, bounds.vectors * bytes_of(3_072))));
    let packed = i64::try_from(pack(&[1.0; 3_072]).len()).unwrap();
    assert_eq!(packed, bytes_of(3_072));
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error_before_anything_is_paid_for() {
    let (folder, mut store) = few(1);
    let path = folder.path().join(EMBEDDINGS);
    // A folder that is not empty: it cannot even be deleted.
    fs_err::create_dir(&path).unwrap();
    fs_err::write(path.join("mine"), "mine").unwrap();
    assert!(matches!(store.begin_turn(&identity(2), 1), Err(StoreError::Unwritable(_))));
    assert!(there(&store, 2).is_empty());
}
