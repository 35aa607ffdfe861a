"""Writes a transformer as the small file that the binary carries (assets/quality.safetensors).

    python quantise.py MODEL.safetensors OUT.safetensors --layers 0 2 5

Word vectors have four bits, in groups of 32 along a row with an F16 scale each; weights of linear
layers have eight bits with a scale for each row, or four in the same groups where their names
match --four-bits; all else is F16. Positions past the last one that is read are left out.

    NAME.q4  U8   [rows, columns / 2]   two's complement, the lower half of a byte first
    NAME.q8  I8   [rows, columns]
    NAME.s   F16  [rows, columns / 32] of q4, F32 [rows] of q8
"""

import argparse
import re

import numpy as np
from safetensors.numpy import load_file, save_file

GROUP = 32
WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
LINEAR = r"(query|key|value|dense)\.weight$|^projection\.weight$"
# What decides where a token looks bears more error than what it takes from there.
FOUR_BITS = r"\.(query|key)\."


def four_bits(matrix):
    """Returns the bytes and the scales of a matrix.

    Of some scales near the largest number / 7, each group takes the one with the least error.
    """
    rows, columns = matrix.shape
    groups = matrix.astype(np.float32).reshape(rows, columns // GROUP, GROUP)
    largest = np.abs(groups).max(axis=2)
    best_error = np.full(largest.shape, np.inf, np.float32)
    best_scale = np.zeros(largest.shape, np.float16)
    for part in (*np.linspace(0.7, 1.05, 15, dtype=np.float32), np.float32(7.5 / 7)):
        for sign in (1, -1):
            # A negative scale lets the step that only one side has serve the other side.
            scale = (sign * largest * part / 7.5).astype(np.float16)
            step = np.where(scale == 0, 1, scale.astype(np.float32))[:, :, None]
            whole = np.clip(np.rint(groups / step), -8, 7)
            error = np.square(whole * step - groups).sum(axis=2)
            better = error < best_error
            best_error = np.where(better, error, best_error)
            best_scale = np.where(better, scale, best_scale)
    step = np.where(best_scale == 0, 1, best_scale.astype(np.float32))[:, :, None]
    whole = np.clip(np.rint(groups / step), -8, 7).astype(np.int8).reshape(rows, columns)
    nibbles = whole.view(np.uint8) & 15
    return nibbles[:, 0::2] | nibbles[:, 1::2] << 4, best_scale


def eight_bits(matrix):
    """Returns the bytes and the scales of a matrix."""
    scales = (np.abs(matrix).max(axis=1) / 127).astype(np.float32)
    step = np.where(scales == 0, 1, scales)[:, None]
    return np.rint(matrix / step).astype(np.int8), scales


def export(state, path, name="anemone-quality-1", max_tokens=256, heads=None, four_bits_of=FOUR_BITS):
    """Writes `state`, the tensors of a model by the names of BERT, to `path`."""
    width = state[WORDS].shape[1]
    tensors = {}
    for key, tensor in state.items():
        tensor = np.asarray(tensor)
        if key == POSITIONS:
            tensor = tensor[:max_tokens]
        is_linear = re.search(LINEAR, key)
        if key == WORDS or (is_linear and re.search(four_bits_of, key)):
            tensors[f"{key}.q4"], tensors[f"{key}.s"] = four_bits(tensor)
        elif is_linear:
            tensors[f"{key}.q8"], tensors[f"{key}.s"] = eight_bits(tensor)
        else:
            tensors[key] = tensor.astype(np.float16)
    projection = state.get("projection.weight")
    metadata = {
        "name": name,
        "dims": str(width if projection is None else projection.shape[0]),
        "max_tokens": str(max_tokens),
        "heads": str(heads or width // 32),
    }
    save_file(tensors, path, metadata)


def read(path):
    """Returns the tensors of a file that `export` wrote, as F32: what the binary computes with."""
    tensors = load_file(path)
    state = {}
    for key, tensor in tensors.items():
        name, form = key[:-3], key[-3:]
        if form == ".q8":
            state[name] = tensor * tensors[f"{name}.s"].astype(np.float32)[:, None]
        elif form == ".q4":
            nibbles = np.stack([tensor & 15, tensor >> 4], axis=2).reshape(len(tensor), -1)
            whole = ((nibbles ^ 8).astype(np.int8) - 8).reshape(len(tensor), -1, GROUP)
            scales = tensors[f"{name}.s"].astype(np.float32)
            state[name] = (whole * scales[:, :, None]).reshape(len(tensor), -1)
        elif not key.endswith(".s"):
            state[key] = tensor.astype(np.float32)
    return state


def some_layers(state, layers):
    """Returns `state` with the given layers alone, in their order, and without the pooler."""
    kept = {k: v for k, v in state.items() if k.startswith("embeddings.") and "_ids" not in k}
    for new, old in enumerate(layers):
        start = f"encoder.layer.{old}."
        for key, tensor in state.items():
            if key.startswith(start):
                kept[f"encoder.layer.{new}.{key.removeprefix(start)}"] = tensor
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--layers", type=int, nargs="+", required=True)
    parser.add_argument("--four-bits", default=FOUR_BITS, help="a regular expression")
    arguments = parser.parse_args()
    state = some_layers(load_file(arguments.model), arguments.layers)
    export(state, arguments.out, four_bits_of=arguments.four_bits)


if __name__ == "__main__":
    main()
