//! The first record of an archive is purged: what was valid stays valid.

#![no_main]

use anemone_format::{
    ArchiveOrDelta, ItemId, PurgeDetails, PurgePlan, PurgeReason, Snapshot, apply_purge,
    prove_purge,
};
use anemone_fuzz::{check, container, open, spool};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(bytes) = container(bytes).filter(|bytes| check(bytes).is_valid()) else { return };
    let Ok(file) =
        ArchiveOrDelta::open(Box::new(bytes.clone()), bytes.len() as u64, &anemone_fuzz::limits())
    else {
        return;
    };
    let ArchiveOrDelta::Archive(archive) = &file else { return };
    let snapshot = Snapshot::read(archive).unwrap();
    let Some(record) = snapshot.records.first() else { return };
    let plan = PurgePlan::new(&file, &[record.id], &[]).unwrap();
    let now = archive.manifest().created_at.clone();
    let request = PurgeDetails {
        purge_id: ItemId::new(record.id.uuid()),
        reason: PurgeReason::UserRequest,
        requested_at: now.clone(),
        completed_at: now,
        requested_by: None,
    };
    let Ok((result, _)) = apply_purge(&file, &plan, request, Vec::new(), spool(), 1) else {
        return;
    };
    let errors = check(&result).errors;
    assert!(errors.is_empty(), "{errors:?}");
    prove_purge(&ArchiveOrDelta::Archive(Box::new(open(&result))), &plan).unwrap();
});
