"""Trains the two students on the teacher's vectors.

    train.py prepare  --teacher DIR --text text.txt.xz --pairs pairs.txt.xz --work DIR
    train.py table    --work DIR --out table.npz
    train.py quality  --work DIR --layers 0,2,5 --out quality.npz

`prepare` cuts the texts into word pieces and asks the teacher for their vectors, once. A GPU does
all of it in some minutes; a laptop does it in some hours with --limit 200000.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

from students import Encoder, Table
from texts import made

CLS, SEP, PIECES = 101, 102, 30522
HELD_OUT = 4000
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Texts:
    """Word pieces of many texts, end to end, and where each text begins."""

    def __init__(self, pieces: np.ndarray, starts: np.ndarray):
        self.pieces = torch.from_numpy(pieces.astype(np.int64)).to(DEVICE)
        self.starts = torch.from_numpy(starts).to(DEVICE)
        self.lengths = self.starts[1:] - self.starts[:-1]

    def __len__(self):
        return len(self.lengths)

    def batch(self, which, limit, framed):
        """Returns padded pieces and a mask; framed: with [CLS] and [SEP]."""
        lengths = self.lengths[which].clamp_max(limit)
        width = int(lengths.max())
        at = torch.arange(width, device=DEVICE)
        there = at[None] < lengths[:, None]
        index = (self.starts[which][:, None] + at[None]).clamp_max(len(self.pieces) - 1)
        ids = torch.where(there, self.pieces[index], 0)
        if not framed:
            return ids, there
        rows = len(which)
        first = torch.full((rows, 1), CLS, device=DEVICE)
        ids = torch.cat([first, ids, torch.zeros_like(first)], 1)
        ids[torch.arange(rows, device=DEVICE), lengths + 1] = SEP
        there = torch.arange(width + 2, device=DEVICE)[None] < (lengths + 2)[:, None]
        return ids, there


def encoder(layers: int) -> Encoder:
    return Encoder(layers).to(DEVICE)


def load_teacher(folder: Path) -> dict[str, torch.Tensor]:
    """Reads the teacher's weights; rows of eight bits, if that is how they come, are widened."""
    state = load_file(folder / "model.safetensors")
    for name in [name for name in state if name.endswith(".scale")]:
        whole = name.removesuffix(".scale")
        state[whole] = state[whole].float() * state.pop(name).float()[:, None]
    return {name: value.float() for name, value in state.items() if value.is_floating_point()}


def load_student(path: Path) -> dict[str, torch.Tensor]:
    """Reads what `quality` wrote."""
    state = {name: torch.from_numpy(value).float() for name, value in np.load(path).items()}
    words = [np.load(path.with_name(f"{path.stem}-words-{part}.npy")) for part in (1, 2)]
    state["embeddings.word_embeddings.weight"] = torch.from_numpy(np.concatenate(words)).float()
    return state


@torch.no_grad()
def vectors(model, texts: Texts, limit: int, framed: bool, tokens: int) -> torch.Tensor:
    """Returns a model's vectors of all texts, in batches of texts of like length."""
    order = texts.lengths.argsort()
    result, at = None, 0
    while at < len(order):
        longest = int(texts.lengths[order[min(at + tokens // 8, len(order) - 1)]].clamp(1, limit))
        count = max(1, tokens // (longest + 2))
        which = order[at:at + count]
        with torch.autocast(DEVICE, dtype=torch.bfloat16 if DEVICE == "cpu" else torch.float16):
            made_now = model(*texts.batch(which, limit, framed)).float()
        if result is None:
            result = torch.zeros(len(order), made_now.shape[1], dtype=torch.float16, device=DEVICE)
        result[which] = made_now.half()
        at += count
    return result


def read(path: Path) -> list[str]:
    opened = lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else open(path, encoding="utf-8")
    with opened as lines:
        return [line.rstrip("\n") for line in lines if line.strip()]


def prepare(args) -> None:
    rng = random.Random(1)
    texts = read(args.text)
    pairs = [pair.split("\t") for pair in read(args.pairs)]
    pairs = [(one, two) for one, two in pairs if one.strip() and two.strip()]
    texts.extend(part for pair in pairs for part in pair)
    texts.extend(made(texts, args.made, seed=2))
    texts = sorted(set(texts))
    rng.shuffle(texts)
    texts = texts[: args.limit]
    tokenizer = Tokenizer.from_file(str(args.teacher / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(254)
    pieces, starts, places = [], [0], {}
    for at in range(0, len(texts), 20_000):
        some = texts[at:at + 20_000]
        for text, one in zip(some, tokenizer.encode_batch(some, add_special_tokens=False)):
            if one.ids:
                places[text] = len(pieces)
                pieces.append(np.array(one.ids, dtype=np.int32))
                starts.append(starts[-1] + len(one.ids))
    pieces, starts = np.concatenate(pieces), np.array(starts)
    kept = Texts(pieces, starts)
    print(f"{len(kept)} texts, {len(pieces)} word pieces", flush=True)
    teacher = encoder(6)
    teacher.load_bert(load_teacher(args.teacher), list(range(6)))
    teacher.eval()
    began = time.time()
    wanted = vectors(teacher, kept, 254, True, 1 << 17)
    print(f"teacher: {time.time() - began:.0f} s", flush=True)
    alone = Texts(np.arange(PIECES, dtype=np.int32), np.arange(PIECES + 1))
    single = vectors(teacher, alone, 8, True, 1 << 15)
    args.work.mkdir(parents=True, exist_ok=True)
    np.save(args.work / "pieces.npy", pieces)
    np.save(args.work / "starts.npy", starts)
    both = [(places[one], places[two]) for one, two in pairs if one in places and two in places]
    np.save(args.work / "pairs.npy", np.array(both, dtype=np.int64))
    np.save(args.work / "wanted.npy", wanted.cpu().numpy())
    np.save(args.work / "single.npy", single.cpu().numpy())


class Work:
    """What `prepare` left: texts, the teacher's vectors, and groups of texts that are alike."""

    def __init__(self, folder: Path):
        self.texts = Texts(np.load(folder / "pieces.npy"), np.load(folder / "starts.npy"))
        self.wanted = torch.from_numpy(np.load(folder / "wanted.npy")).to(DEVICE)
        self.single = torch.from_numpy(np.load(folder / "single.npy")).to(DEVICE).float()
        self.pairs = torch.from_numpy(np.load(folder / "pairs.npy")).to(DEVICE)
        self.held_out = torch.arange(HELD_OUT, device=DEVICE)
        self.groups = self.alike()

    def alike(self, groups: int = 2048, rounds: int = 6) -> list[torch.Tensor]:
        """Groups texts by the teacher's vectors, so that a batch has near misses in it."""
        wanted = self.wanted
        generator = torch.Generator(device="cpu").manual_seed(3)
        centres = wanted[torch.randperm(len(wanted), generator=generator)[:groups].to(DEVICE)].float()
        nearest = torch.zeros(len(wanted), dtype=torch.long, device=DEVICE)
        for _ in range(rounds):
            for at in range(0, len(wanted), 1 << 16):
                nearest[at:at + (1 << 16)] = (wanted[at:at + (1 << 16)] @ centres.half().T).argmax(1)
            centres = F.normalize(torch.zeros_like(centres).index_add_(0, nearest, wanted.float()), dim=-1)
        order = nearest.argsort()
        order = order[order >= HELD_OUT]
        sizes = torch.bincount(nearest[order], minlength=groups).tolist()
        return [group for group in order.split(sizes) if len(group) > 8]

    def draw(self, count: int) -> torch.Tensor:
        """Draws a batch: half of it anywhere, half of it from a few groups."""
        anywhere = torch.randint(HELD_OUT, len(self.texts), (count // 2,), device=DEVICE)
        parts, drawn = [anywhere], count // 2
        while drawn < count:
            group = self.groups[random.randrange(len(self.groups))]
            some = group[torch.randint(len(group), (min(64, count - drawn),), device=DEVICE)]
            parts.append(some)
            drawn += len(some)
        return torch.cat(parts).unique()


def loss_of(own, wanted, relations: float, asked: bool, heat: float = 0.05):
    """How far vectors are from the teacher's, and their neighbourhoods from the teacher's.

    Asked: neighbourhoods of the teacher's vectors among ours, as when somebody else asks.
    """
    apart = (1 - (own * wanted).sum(-1)).mean()
    if relations == 0:
        return apart, apart.detach(), apart.detach() * 0
    theirs = (wanted @ wanted.T) / heat
    ours = ((wanted if asked else own) @ own.T) / heat
    same = torch.eye(len(own), dtype=torch.bool, device=own.device)
    theirs = theirs.masked_fill(same, -1e4)
    ours = ours.masked_fill(same, -1e4)
    related = F.kl_div(F.log_softmax(ours, -1), F.log_softmax(theirs, -1), log_target=True, reduction="batchmean")
    return apart + relations * related, apart.detach(), related.detach()


def apart_pairs(model, work, limit, framed, count=2048, heat=0.05):
    """How hard it is to tell which text belongs to which: a heading to what stands under it."""
    drawn = work.pairs[torch.randint(len(work.pairs), (count,), device=DEVICE)]
    one, two = (model(*work.texts.batch(drawn[:, side], limit, framed)).float() for side in (0, 1))
    return F.cross_entropy(one @ two.T / heat, torch.arange(count, device=DEVICE))


def report(name, model, work, limit, framed, target, step, began):
    texts = work.texts
    with torch.no_grad():
        own = model(*texts.batch(work.held_out, limit, framed)).float()
    fits = (own * target).sum(-1).mean().item()
    ours, theirs = own @ own.T, target @ target.T
    top = theirs.fill_diagonal_(-1).topk(10, -1).indices
    found = ours.fill_diagonal_(-1).topk(10, -1).indices
    share = (top[:, :, None] == found[:, None, :]).any(-1).float().mean().item()
    took = time.time() - began
    print(f"{name} step {step}: held out cosine {fits:.4f}, of 10 neighbours {share:.4f}, {took:.0f} s", flush=True)


def projection(wanted: torch.Tensor, dims: int) -> torch.Tensor:
    """The directions in which the teacher's vectors differ most."""
    some = wanted[:: max(1, len(wanted) // 200_000)].float()
    _, vectors = torch.linalg.eigh(some.T @ some)
    return vectors.flip(-1)[:, :dims].T.contiguous()


def train(name, model, work, target, parameters, args, limit, framed, on_step=None):
    optimiser = torch.optim.AdamW(parameters, weight_decay=0.0, betas=(0.9, 0.98 if framed else 0.999))
    rates = [group["lr"] for group in optimiser.param_groups]
    began, step = time.time(), 0
    while step < args.steps and time.time() - began < args.seconds:
        share = max(step / args.steps, (time.time() - began) / args.seconds)
        now = min(1.0, step / 200) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, share)))
        for group, rate in zip(optimiser.param_groups, rates):
            group["lr"] = rate * max(now, 0.01)
        if on_step:
            on_step(share)
        which = work.draw(args.batch)
        order = which[work.texts.lengths[which].argsort()]
        own = []
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=framed):
            at = 0
            while at < len(order):
                # Texts of like length together, so that little is padding.
                part = order[at:at + args.batch // 8]
                own.append(model(*work.texts.batch(part, limit, framed)))
                at += len(part)
        loss, apart, related = loss_of(torch.cat(own).float(), target[order].float(), args.relations, not framed)
        if args.pull:
            loss = loss + args.pull * apart_pairs(model, work, limit, framed)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if framed:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 500 == 0:
            print(f"  {name} {step} apart {apart.item():.4f} related {related.item():.4f}", flush=True)
            report(name, model, work, limit, framed, target[work.held_out].float(), step, began)
        step += 1
    report(name, model, work, limit, framed, target[work.held_out].float(), step, began)


def table(args) -> None:
    work = Work(args.work)
    turn = projection(work.wanted, args.dims)
    target = F.normalize(work.wanted.float() @ turn.T, dim=-1).half()
    counts = torch.bincount(work.texts.pieces, minlength=PIECES).float() + 1
    weight = 1e-3 / (1e-3 + counts / counts.sum())
    rows = F.normalize(work.single @ turn.T, dim=-1) * weight[:, None]
    rows[[0, 100, CLS, SEP, 103]] = 0
    model = Table(rows, args.bigrams).to(DEVICE)
    parameters = [{"params": [model.rows], "lr": args.rate}, {"params": [model.bigrams], "lr": args.rate}]
    train(f"table {args.dims}", model, work, target, parameters, args, 254, False)
    # What stands for no word says nothing.
    model.rows.data[[0, 100, CLS, SEP, 103]] = 0
    result = {"rows": model.rows.detach().half().cpu().numpy(), "turn": turn.half().cpu().numpy()}
    if args.bigrams:
        result["bigrams"] = model.bigrams.detach().half().cpu().numpy()
    np.savez(args.out, **result)


def quality(args) -> None:
    work = Work(args.work)
    layers = [int(layer) for layer in args.layers.split(",")]
    model = encoder(len(layers))
    if args.begin_with:
        model.load_bert(load_student(args.begin_with), list(range(len(layers))))
    else:
        model.load_bert(load_teacher(args.teacher), layers)
    inside = [p for name, p in model.named_parameters() if not name.startswith("words")]
    parameters = [{"params": inside, "lr": args.rate}, {"params": [model.words.weight], "lr": args.rate}]

    def on_step(share):
        # The last part of the training is done with weights as they will be kept.
        if (share > 0.5 or args.begin_with) and model.word_bits == 0:
            model.set_bits(args.word_bits, args.layer_bits)

    train(f"quality {args.layers}", model, work, work.wanted, parameters, args, args.longest, True, on_step)
    model.set_bits(args.word_bits, args.layer_bits)
    state = {name: value.half().cpu().numpy() for name, value in model.bert_state().items()}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    # Files of at most 16 MB, so that they can be carried.
    words = state.pop("embeddings.word_embeddings.weight")
    half = len(words) // 2
    np.savez(args.out, **state)
    np.save(args.out.with_name(args.out.stem + "-words-1.npy"), words[:half])
    np.save(args.out.with_name(args.out.stem + "-words-2.npy"), words[half:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("prepare", help="word pieces and the teacher's vectors")
    one.add_argument("--teacher", type=Path, required=True, help="folder with model.safetensors and tokenizer.json")
    one.add_argument("--text", type=Path, required=True)
    one.add_argument("--pairs", type=Path, required=True)
    one.add_argument("--made", type=int, default=300_000, help="texts made by rule")
    one.add_argument("--limit", type=int, default=None, help="texts in all")
    one.set_defaults(run=prepare)
    two = commands.add_parser("table", help="one vector for each word piece")
    two.add_argument("--dims", type=int, default=128)
    two.add_argument("--bigrams", type=int, default=0, help="rows for pairs of pieces")
    two.set_defaults(run=table)
    three = commands.add_parser("quality", help="an encoder with fewer layers")
    three.add_argument("--teacher", type=Path, required=True)
    three.add_argument("--layers", default="0,2,5", help="the teacher's layers to begin with")
    three.add_argument("--begin-with", type=Path, help="go on from an earlier run")
    three.add_argument("--word-bits", type=int, default=4)
    three.add_argument("--layer-bits", type=int, default=4)
    three.add_argument("--longest", type=int, default=190, help="word pieces of a text, at most")
    three.set_defaults(run=quality)
    for command in (one, two, three):
        command.add_argument("--work", type=Path, required=True, help="folder for what is in between")
    for command in (two, three):
        command.add_argument("--out", type=Path, required=True)
        command.add_argument("--steps", type=int, default=20_000)
        command.add_argument("--seconds", type=float, default=600, help="stop earlier after this long")
        for name in ("rate", "relations"):
            command.add_argument(f"--{name}", type=float)
        command.add_argument("--batch", type=int)
        command.add_argument("--pull", type=float, default=0.0, help="how much pairs are pulled together")
    two.set_defaults(rate=2e-3, batch=8192, relations=2.0)
    three.set_defaults(rate=3e-4, batch=1024, relations=0.5)
    args = parser.parse_args()
    torch.manual_seed(4)
    random.seed(4)
    args.run(args)


if __name__ == "__main__":
    main()
