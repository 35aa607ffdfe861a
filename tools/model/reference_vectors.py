"""Makes the vectors that the forward pass is checked against, with numpy alone, in F64.

    pip install numpy safetensors tokenizers
    python tools/model/reference_vectors.py tiny
    python tools/model/reference_vectors.py minilm FOLDER_OF_ALL_MINILM_L6_V2

`tiny` makes a model of two small layers with random weights, in the form the binary carries and
as floats, and its vectors for some lists of word pieces. `minilm` makes the vectors of the
sentences below.
"""

import argparse
import json
import math
import pathlib

import numpy as np
from safetensors.numpy import load_file, save_file

import quantise

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "crates" / "embed" / "tests" / "fixtures"
START, END = 101, 102

SENTENCES = [
    "a",
    "Hello",
    "The quick grey cat sleeps on the warm roof.",
    "Anna moved from Lisbon to Oslo in March and likes the snow.",
    "Remember: the kettle in the office trips the fuse if the heater is on.",
    "How do I restore a backup of the database?",
    "What was the name of the dentist?",
    "fn main() { println!(\"{}\", 1 + 1); }",
    "SELECT name, price FROM parts WHERE price > 10 ORDER BY price;",
    "https://example.org/a/b?c=d&e=f#g",
    "user@example.org",
    "3.14159 2.71828 1,000,000 -40 0x1f",
    "2026-11-15T22:30:00Z",
    "TODO TODO TODO",
    "# Heading\n\n- first point\n- second point\n\n> a quotation",
    "{\"key\": [1, 2, 3], \"other\": null}",
    "Über den Dächern von Köln fährt eine Seilbahn.",
    "Le garçon a mangé une crêpe à la fête.",
    "El niño señaló la montaña con el dedo.",
    "Сегодня хорошая погода, и мы идём гулять.",
    "Η θάλασσα είναι ήρεμη σήμερα.",
    "今日は天気がいいです。",
    "我们明天去北京开会。",
    "오늘은 날씨가 좋습니다.",
    "الكتاب على الطاولة",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก",
    "🎉🎂 happy birthday 🎉",
    "...",
    "?!",
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 300,
    "yes no yes no yes no yes no yes no yes no yes no yes no",
    "The deploy failed because the certificate had expired; Marta renewed it by hand.",
    "She prefers tea to coffee, never eats nuts, and sits by the window.",
    "the cat sat on the mat " * 12,
    "one two three four five six seven eight nine ten " * 20,
    "A long note. " * 100,
    " ".join(f"item {n} costs {n * 7 % 31} coins and weighs {n * 3 % 17} grams;" for n in range(60)),
    "tab\tand\nnew line\r\nand   many    spaces",
]


def error_function(numbers):
    return np.vectorize(math.erf, otypes=[np.float64])(numbers)


def norm(state, name, rows):
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows = rows / np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + 1e-12)
    return rows * state[f"{name}.weight"] + state[f"{name}.bias"]


def linear(state, name, rows):
    return rows @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def vector(state, ids, heads):
    """Returns the vector of one text, as the reference implementation of BERT makes it."""
    name = "embeddings"
    rows = state[f"{name}.word_embeddings.weight"][ids]
    rows = rows + state[f"{name}.position_embeddings.weight"][: len(ids)]
    rows = norm(state, f"{name}.LayerNorm", rows + state[f"{name}.token_type_embeddings.weight"][0])
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in state:
        name = f"encoder.layer.{layer}"
        parts = []
        for part in ("query", "key", "value"):
            part = linear(state, f"{name}.attention.self.{part}", rows)
            parts.append(part.reshape(len(ids), heads, -1).transpose(1, 0, 2))
        query, key, value = parts
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[2])
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        shares = shares / shares.sum(axis=2, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        mixed = linear(state, f"{name}.attention.output.dense", mixed)
        rows = norm(state, f"{name}.attention.output.LayerNorm", rows + mixed)
        wide = linear(state, f"{name}.intermediate.dense", rows)
        wide = wide * 0.5 * (1 + error_function(wide / math.sqrt(2)))
        narrow = linear(state, f"{name}.output.dense", wide)
        rows = norm(state, f"{name}.output.LayerNorm", rows + narrow)
        layer += 1
    mean = rows.mean(axis=0)
    if "projection.weight" in state:
        mean = state["projection.weight"] @ mean
    return mean / np.linalg.norm(mean)


def in_f64(state):
    return {name: np.asarray(tensor, np.float64) for name, tensor in state.items()}


def tiny():
    """Writes the tiny model as floats, the same with a projection as the binary would carry it,
    and the vectors of both for the same word pieces."""
    random = np.random.default_rng(20_261_115)
    width, wide, vocabulary, positions, heads = 32, 72, 120, 40, 4

    def some(*shape, around=0.0, spread=0.1):
        return (around + spread * random.standard_normal(shape)).astype(np.float32)

    def some_norm(name):
        return {f"{name}.weight": some(width, around=1.0), f"{name}.bias": some(width)}

    def some_linear(name, outputs, inputs):
        weight = some(outputs, inputs, spread=1.5 / math.sqrt(inputs))
        return {f"{name}.weight": weight, f"{name}.bias": some(outputs)}

    state = {
        "embeddings.word_embeddings.weight": some(vocabulary, width, spread=1.0),
        "embeddings.position_embeddings.weight": some(positions, width, spread=0.3),
        "embeddings.token_type_embeddings.weight": some(2, width),
        **some_norm("embeddings.LayerNorm"),
    }
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            state |= some_linear(f"{name}.attention.{part}", width, width)
        state |= some_norm(f"{name}.attention.output.LayerNorm")
        state |= some_linear(f"{name}.intermediate.dense", wide, width)
        state |= some_linear(f"{name}.output.dense", width, wide)
        state |= some_norm(f"{name}.output.LayerNorm")
    texts = [
        [int(word) for word in random.integers(0, 100, length)]
        for length in (1, 2, 3, 5, 6, 7, 14, 15, 16, 17, 30, 38)
    ]

    prefixed = {f"0.auto_model.{name}": tensor for name, tensor in state.items()}
    save_file(prefixed, FIXTURES / "tiny.safetensors", {"heads": str(heads)})
    state["projection.weight"] = some(10, width)
    quantised = FIXTURES / "tiny-quantised.safetensors"
    quantise.export(state, quantised, name="tiny", max_tokens=40, heads=heads)
    del state["projection.weight"]

    cases = []
    for model in (state, quantise.read(quantised)):
        model = in_f64(model)
        vectors = [vector(model, [START, *text, END], heads) for text in texts]
        cases.append([[round(float(number), 6) for number in vector] for vector in vectors])
    lines = [
        json.dumps({"pieces": text, "floats": floats, "quantised": small})
        for text, floats, small in zip(texts, *cases)
    ]
    (FIXTURES / "tiny.jsonl").write_text("\n".join(lines) + "\n")


def minilm(folder):
    """Writes the sentences, and after them their vectors as F16."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    model = in_f64(load_file(folder / "model.safetensors"))
    vectors = [vector(model, tokenizer.encode(text).ids, 12) for text in SENTENCES]
    (FIXTURES / "minilm.json").write_text(json.dumps(SENTENCES, ensure_ascii=False, indent=0) + "\n")
    (FIXTURES / "minilm.f16").write_bytes(np.array(vectors).astype("<f2").tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=("tiny", "minilm"))
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    arguments = parser.parse_args()
    FIXTURES.mkdir(exist_ok=True)
    if arguments.model == "tiny":
        tiny()
    else:
        minilm(arguments.folder)


if __name__ == "__main__":
    main()
