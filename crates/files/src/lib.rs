//! Safe file access: beneath a folder, never through a link, completely or not at all.
//!
//! | module | what it does |
//! |---|---|
//! | [`Folder`] | opens, reads, creates, renames and removes by the handle of a folder |
//! | [`walk`] | visits everything below a folder; the visitor decides what counts |
//! | [`FileStat`], [`FileStamp`] | what a file is, and what tells cheaply whether it changed |
//! | [`replace_file`], [`commit`] | temporary file, sync, rename, sync of the folder |
//! | [`temporary_file`], [`sweep`] | temporary names, and what killed processes left under them |
//! | [`remove_tree`], [`prune`] | removes folders with what is in them |
//! | [`edit_distance`] | how far apart two names are |
//!
//! This crate is a leaf: it knows no agent, no memory and no archive. The caller decides which
//! files count.

mod distance;
pub mod faults;
mod folder;
mod read;
mod remove;
mod replace;
mod stat;
mod temporary;
mod walk;

pub use distance::edit_distance;
pub use folder::{AppendOutcome, FileRead, Folder, FolderEntry, SwapOutcome};
pub use read::{
    NotRegularFile, each_block, if_found, is_not_plain, open_regular, read_limited, read_small,
};
pub use remove::{prune, remove_tree};
pub use replace::{
    Durability, Existing, commit, create_private, folder_of, make_private_folder, open_private,
    rename_to_free, replace_file, replace_through, sync_folder, sync_folder_if_possible,
};
pub use stat::{FileKind, FileStamp, FileStat, FileTime};
pub use temporary::{
    LeftoverKind, TEMPORARY_FILE, lock_folder, locked_folder, private_temporary_folder, sweep,
    temporary_file,
};
pub use walk::{WalkEntry, WalkStep, WalkVisitor, walk};
