use super::*;
use crate::commit::tests::commit;
use crate::memory::MemoryStorage;
use crate::store::HistoryStore;

fn history(storage: &MemoryStorage) -> AgentHistory<'_> {
    let store = HistoryStore::open_or_create(storage, uuid::Uuid::from_u128(1)).unwrap();
    store.history(commit("", DAY_1, &[]).agent.id).unwrap()
}

const DAY_1: &str = "2026-03-01T10:00:00Z";
const DAY_2: &str = "2026-03-02T10:00:00Z";
const DAY_3: &str = "2026-03-03T10:00:00Z";

fn publish(
    history: &mut AgentHistory<'_>,
    message: &str,
    time: &str,
    parents: &[CommitId],
) -> CommitId {
    history.publish(&commit(message, time, parents), &[]).unwrap()
}

fn walked(history: &AgentHistory<'_>, from: &[CommitId]) -> Vec<WalkedCommit> {
    let walk = history.walk(from);
    assert!(walk.unreadable.is_empty(), "{:?}", walk.unreadable);
    walk.commits
}

fn messages(walked: &[WalkedCommit]) -> Vec<&str> {
    walked.iter().filter_map(|walked| walked.commit.message.as_deref()).collect()
}

#[test]
fn a_commit_replaces_its_parent_as_the_head() {
    let storage = MemoryStorage::new();
    let mut ours = history(&storage);
    assert!(ours.is_empty() && ours.heads().unwrap().is_empty());
    let first = publish(&mut ours, "first", DAY_1, &[]);
    let second = publish(&mut ours, "second", DAY_2, &[first]);
    for history in [&ours, &history(&storage)] {
        assert_eq!(messages(&history.heads().unwrap()), ["second"]);
        assert_eq!(messages(&walked(history, &[second])), ["second", "first"]);
        assert_eq!(history.commit_ids().len(), 2);
    }
}

#[test]
fn two_that_commit_at_once_make_two_heads() {
    let storage = MemoryStorage::new();
    let first = publish(&mut history(&storage), "first", DAY_1, &[]);
    let (mut one, mut other) = (history(&storage), history(&storage));
    let ones = publish(&mut one, "one", DAY_2, &[first]);
    let others = publish(&mut other, "other", DAY_3, &[first]);
    let mut both = history(&storage);
    assert_eq!(messages(&both.heads().unwrap()), ["other", "one"]);
    publish(&mut both, "merge", DAY_3, &[ones, others]);
    let heads = history(&storage).heads().unwrap();
    assert_eq!(messages(&heads), ["merge"]);
    let all = walked(&history(&storage), &[heads[0].id]);
    assert_eq!(messages(&all), ["merge", "other", "one", "first"]);
}

#[test]
fn a_head_whose_child_is_a_head_too_is_none() {
    let storage = MemoryStorage::new();
    let mut ours = history(&storage);
    let first = publish(&mut ours, "first", DAY_1, &[]);
    let second = publish(&mut ours, "second", DAY_2, &[first]);
    publish(&mut ours, "third", DAY_3, &[second]);
    // A writer that was stopped before it removed the heads of the parents.
    for id in [first, second] {
        storage.write(&ours.head_key(id), &mut io::empty()).unwrap();
    }
    assert_eq!(messages(&history(&storage).heads().unwrap()), ["third"]);
}

#[test]
fn what_has_no_head_does_not_exist() {
    let storage = MemoryStorage::new();
    let mut ours = history(&storage);
    let first = publish(&mut ours, "first", DAY_1, &[]);
    publish(&mut ours, "second", DAY_2, &[first]);
    let keys = storage.keys();
    // Objects appear in the order in which they are written; a reader may look at any moment.
    let head = keys.iter().find(|key| key.as_str().contains("/heads/")).unwrap();
    storage.remove(head).unwrap();
    assert!(history(&storage).is_empty());
}

#[test]
fn a_clock_that_goes_backwards_does_not_put_a_parent_before_its_child() {
    let storage = MemoryStorage::new();
    let mut ours = history(&storage);
    let first = publish(&mut ours, "first", DAY_3, &[]);
    let second = publish(&mut ours, "second", DAY_1, &[first]);
    assert_eq!(messages(&walked(&ours, &[second, first])), ["second", "first"]);
    assert_eq!(messages(&ours.heads().unwrap()), ["second"]);
}

#[test]
fn a_damaged_commit_is_an_error_that_names_it() {
    let storage = MemoryStorage::new();
    let mut ours = history(&storage);
    let first = publish(&mut ours, "first", DAY_1, &[]);
    let key = ours.commit_key(first);
    let good = storage.read(&key).unwrap().read_all(10_000).unwrap();
    let mut bad = good;
    bad[10] ^= 1;
    storage.write(&key, &mut &bad[..]).unwrap();
    assert!(matches!(ours.commit(first), Err(HistoryError::WrongDigest(at)) if at == key));
    storage.write(&key, &mut &vec![b' '; 2 << 20][..]).unwrap();
    assert!(matches!(ours.commit(first), Err(HistoryError::WrongDigest(_))));
    storage.remove(&key).unwrap();
    assert!(matches!(ours.commit(first), Err(HistoryError::MissingCommit(id)) if id == first));
}

#[test]
fn a_commit_of_another_agent_is_refused() {
    let storage = MemoryStorage::new();
    let mut foreign = commit("foreign", DAY_1, &[]);
    foreign.agent.id = "1d93a526-85b1-5b5b-9ac8-2fcc8749633d".parse().unwrap();
    let mut ours = history(&storage);
    assert!(matches!(ours.publish(&foreign, &[]), Err(PublishError::WrongAgent(_))));
    let bytes = foreign.to_bytes();
    let id = CommitId::of(&bytes);
    storage.write(&ours.commit_key(id), &mut &bytes[..]).unwrap();
    assert!(matches!(ours.commit(id), Err(HistoryError::WrongAgent { .. })));
}

#[test]
fn objects_that_are_not_ours_are_named() {
    let storage = MemoryStorage::new();
    let mut ours = history(&storage);
    publish(&mut ours, "first", DAY_1, &[]);
    let strange = [CONTENT, COMMITS, HEADS].map(|name| ours.folder.child(name).child("note"));
    for key in &strange {
        storage.write(key, &mut &b"x"[..]).unwrap();
    }
    let mut unknown = history(&storage).unknown_objects().to_vec();
    unknown.sort();
    let mut expected = strange.to_vec();
    expected.sort();
    assert_eq!(unknown, expected);
}
