"""Says how well a student finds lines by meaning alone, on questions that nobody trained on.

    measure.py --teacher DIR --bench bench.json [--table table.npz ...] [--quality quality.npz ...]

bench.json: {"set": {"lines": [...], "queries": [["question", [indices of lines]], ...]}}
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from students import Table
from train import DEVICE, Texts, encoder, load_student, load_teacher, vectors


def texts_of(lines: list[str], tokenizer: Tokenizer) -> Texts:
    ids = [one.ids or [100] for one in tokenizer.encode_batch(lines, add_special_tokens=False)]
    starts = np.cumsum([0, *(len(one) for one in ids)])
    return Texts(np.concatenate([np.array(one, dtype=np.int32) for one in ids]), starts)


def found(queries: torch.Tensor, lines: torch.Tensor, bench: dict, budget: int = 4000) -> tuple[float, float]:
    """Returns the share of relevant lines in the best 4,000 characters, and the mean reciprocal rank."""
    order = (queries.float() @ lines.float().T).argsort(-1, descending=True).tolist()
    recall = rank = 0.0
    for ranked, (_, relevant) in zip(order, bench["queries"]):
        used, taken = 0, set()
        for line in ranked:
            used += len(bench["lines"][line]) + 1
            if used > budget:
                break
            taken.add(line)
        recall += len(taken & set(relevant)) / len(set(relevant))
        rank += 1 / (1 + min(ranked.index(line) for line in relevant))
    return 100 * recall / len(order), 100 * rank / len(order)


def show(name: str, sets: dict, of_queries, of_lines) -> None:
    parts = []
    for key, bench in sets.items():
        recall, rank = found(of_queries[key], of_lines[key], bench)
        parts.append(f"{key} {recall:.1f}/{rank:.1f}")
    print(f"{name}: {'  '.join(parts)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--table", type=Path, nargs="*", default=[])
    parser.add_argument("--quality", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    sets = json.loads(args.bench.read_text())
    tokenizer = Tokenizer.from_file(str(args.teacher / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lines = {key: texts_of(bench["lines"], tokenizer) for key, bench in sets.items()}
    queries = {key: texts_of([query for query, _ in bench["queries"]], tokenizer) for key, bench in sets.items()}

    def of(model, limit, framed):
        run = lambda texts: {key: vectors(model, one, limit, framed, 1 << 15) for key, one in texts.items()}
        return run(queries), run(lines)

    teacher = encoder(6)
    teacher.load_bert(load_teacher(args.teacher), list(range(6)))
    asked, held = of(teacher.eval(), 254, True)
    show("teacher", sets, asked, held)
    students = {}
    for path in args.quality:
        state = load_student(path)
        layers = 1 + max(int(name.split(".")[2]) for name in state if name.startswith("encoder.layer."))
        model = encoder(layers)
        model.load_bert(state, list(range(layers)))
        for bits in ((0, 0), (4, 8), (4, 4)):
            model.set_bits(*bits)
            students[path.stem] = of(model.eval(), 254, True)
            show(f"{path.stem} bits {bits}", sets, *students[path.stem])
    for path in args.table:
        kept = np.load(path)
        rows = torch.from_numpy(kept["rows"]).float()
        scale = rows.abs().amax(-1, keepdim=True).clamp_min(1e-8) / 127
        model = Table((rows / scale).round() * scale, len(kept["bigrams"]) if "bigrams" in kept else 0).to(DEVICE)
        if "bigrams" in kept:
            model.bigrams.data.copy_(torch.from_numpy(kept["bigrams"]).float())
        own_queries, own_lines = of(model, 254, False)
        show(f"{path.stem} int8", sets, own_queries, own_lines)
        turn = torch.from_numpy(kept["turn"]).float().to(DEVICE)
        turned = lambda these: {key: F.normalize(value.float() @ turn.T, dim=-1) for key, value in these.items()}
        show(f"{path.stem} lines, teacher questions", sets, turned(asked), own_lines)
        for name, (student_queries, _) in students.items():
            show(f"{path.stem} lines, {name} questions", sets, turned(student_queries), own_lines)


if __name__ == "__main__":
    main()
