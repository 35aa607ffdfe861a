"""Writes the trained students as the files that the binary carries.

    export.py table    table.npz   ../../crates/embed/assets/table.safetensors
    export.py quality  quality.npz ../../crates/embed/assets/quality.safetensors

The table has eight bits and a scale for each row. All matrices of the transformer have four bits
in groups of 32, as they had while it was trained; see quantise.py for the form.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from quantise import GROUP, WORDS, export, eight_bits

MATRICES = r"."


def table(source: Path, out: Path) -> None:
    """Writes the rows of tokens, and what turns the transformer's vectors into the table's."""
    kept = np.load(source)
    whole, scales = eight_bits(kept["rows"].astype(np.float32))
    tensors = {"table.q8": whole, "table.s": scales, "turn": kept["turn"].astype(np.float16)}
    save_file(tensors, out, {"name": "anemone-table-1"})


def as_trained(matrix: np.ndarray) -> np.ndarray:
    """Rounds as the training did, so that the file holds what was measured."""
    groups = matrix.astype(np.float32).reshape(len(matrix), -1, GROUP)
    scale = np.abs(groups).max(-1, keepdims=True).clip(1e-8) / 7
    return (np.rint(groups / scale).clip(-8, 7) * scale).reshape(matrix.shape)


def quality(source: Path, out: Path) -> None:
    """Writes the transformer."""
    state = {name: value.astype(np.float32) for name, value in np.load(source).items()}
    parts = [np.load(source.with_name(f"{source.stem}-words-{part}.npy")) for part in (1, 2)]
    state[WORDS] = np.concatenate(parts).astype(np.float32)
    for name, value in state.items():
        if name == WORDS or name.startswith("encoder.") and value.ndim == 2:
            state[name] = as_trained(value)
    export(state, out, four_bits_of=MATRICES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("table", "quality"))
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    {"table": table, "quality": quality}[args.what](args.source, args.out)
    written = args.out.read_bytes()
    print(f"{args.out.name}: {len(written)} bytes, sha256 {hashlib.sha256(written).hexdigest()}")


if __name__ == "__main__":
    main()
