# `just` lists the recipes. Each is one command that you can also type by hand.

_list:
    @just --list

# Everything that CI checks
check:
    .ci/run

# The tests, including doc tests
test:
    cargo test --workspace

# The same tests, at full size, with many more cases for each property
slow:
    ANEMONE_SLOW=all PROPTEST_CASES=10000 cargo test --workspace

# A fault at every file system call of every command that writes; takes an hour or two
sweep:
    ANEMONE_SWEEP=all cargo test -p anemone-cli --test sweep -- --nocapture

# The benchmarks
bench:
    cargo bench

# Fuzz one target: `just fuzz archive 600`
fuzz target="archive" seconds="60":
    RUSTC_BOOTSTRAP=1 cargo fuzz run {{ target }} -- -max_total_time={{ seconds }}

# Format the code
fmt:
    cargo fmt --all

# Regenerate schemas/ from the types
schemas:
    ANEMONE_UPDATE=1 cargo test -p anemone-format --test schemas

# Regenerate the conformance vectors
vectors:
    ANEMONE_UPDATE=1 cargo test -p anemone-cli --test vectors
