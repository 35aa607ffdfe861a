//! Makes the program smaller, if the linker is known to support it.
//!
//! Functions with equal machine code are merged, relocations are packed, and symbols are removed:
//! cargo does not apply `strip` to a package with an optimisation level of its own. Nothing is
//! changed for another linker, on other systems, and in builds for tests.

use std::path::Path;
use std::process::Command;

/// The first version of glibc that reads such bits.
const LEAST_GLIBC: (u32, u32) = (2, 36);

/// Reads a variable that cargo sets; empty if it is not set.
#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns the version of glibc on this machine.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether the compiler brought its own linker, which it then uses.
fn has_own_linker(target: &str) -> Option<bool> {
    let said = Command::new(variable("RUSTC")).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(said.stdout).ok()?;
    let linker = format!("lib/rustlib/{target}/bin/gcc-ld/ld.lld");
    Some(Path::new(sysroot.trim()).join(linker).exists())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = variable("TARGET");
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let is_chosen = flags.contains("link") || !variable("RUSTC_LINKER").is_empty();
    // This is what cargo says of `dist` too, because it inherits from `release`.
    if variable("PROFILE") != "release" || target != "x86_64-unknown-linux-gnu" || is_chosen {
        return;
    }
    // The rustc of a distribution may use the system's linker, which does not support this.
    if has_own_linker(&target) != Some(true) {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    if variable("HOST") == target && glibc().is_some_and(|version| version >= LEAST_GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
