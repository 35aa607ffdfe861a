//! What every runtime is made of; nothing in here knows one by name.

pub(crate) mod agent;
pub(crate) mod artifacts;
pub(crate) mod carrier;
pub(crate) mod check;
pub(crate) mod conversation;
pub(crate) mod database;
pub(crate) mod ids;
pub(crate) mod install_paths;
pub mod mapping;
pub(crate) mod new_install;
pub(crate) mod open_workspace;
pub(crate) mod paths;
pub(crate) mod persona;
pub(crate) mod plan;
pub(crate) mod previous;
pub(crate) mod restore;
pub(crate) mod runtime;
pub(crate) mod searchable;
pub(crate) mod sidecar;
pub(crate) mod split_text;
pub(crate) mod stable_copy;
pub(crate) mod stamps;
pub(crate) mod times;
pub(crate) mod tree;
pub(crate) mod vectors;
pub(crate) mod walk;
