"""The teacher, the two students, and how weights are rounded.

The teacher is a BERT encoder with mean pooling (all-MiniLM-L6-v2). The students are a table (one
vector for each word piece, summed) and an encoder with fewer layers.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

GROUP = 32
"""Numbers that share a scale when weights have four bits."""


class RoundToFour(torch.autograd.Function):
    """Rounds to four bits in groups, and lets gradients through as if nothing had happened."""

    @staticmethod
    def forward(ctx, weight):
        rows, columns = weight.shape
        groups = weight.view(rows, columns // GROUP, GROUP)
        scale = groups.abs().amax(-1, keepdim=True).clamp_min(1e-8) / 7
        return ((groups / scale).round().clamp(-8, 7) * scale).view(rows, columns)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class RoundToEight(torch.autograd.Function):
    """Rounds each row to eight bits."""

    @staticmethod
    def forward(ctx, weight):
        scale = weight.abs().amax(-1, keepdim=True).clamp_min(1e-8) / 127
        return (weight / scale).round() * scale

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def rounded(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """Returns what is left of a weight after rounding to 4 or 8 bits; 0 bits: all of it."""
    if bits == 4:
        return RoundToFour.apply(weight)
    if bits == 8:
        return RoundToEight.apply(weight)
    return weight


class Linear(nn.Linear):
    """A linear layer that can pretend to be rounded."""

    bits = 0

    def forward(self, x):
        return F.linear(x, rounded(self.weight, self.bits), self.bias)


class Layer(nn.Module):
    """One layer of a BERT encoder; names follow the original, so that weights can be copied."""

    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (Linear(width, width) for _ in range(3))
        self.out, self.up, self.down = Linear(width, width), Linear(width, inner), Linear(inner, width)
        self.norm_attention = nn.LayerNorm(width, eps=1e-12)
        self.norm_output = nn.LayerNorm(width, eps=1e-12)

    NAMES = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "norm_attention": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "norm_output": "output.LayerNorm",
    }

    def forward(self, x, mask):
        batch, length, width = x.shape

        def split(y):
            return y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        x = self.norm_attention(x + self.out(mixed))
        return self.norm_output(x + self.down(F.gelu(self.up(x))))


class Encoder(nn.Module):
    """A BERT encoder with mean pooling and vectors of length 1."""

    def __init__(self, layers: int, width=384, heads=12, inner=1536, pieces=30522, positions=512):
        super().__init__()
        self.words = nn.Embedding(pieces, width)
        self.positions = nn.Embedding(positions, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, inner) for _ in range(layers))
        self.word_bits = 0

    def forward(self, ids, there):
        """`ids` are padded word pieces with [CLS] and [SEP]; `there` says which are no padding."""
        words = F.embedding(ids, rounded(self.words.weight, self.word_bits))
        x = words + self.positions.weight[: ids.shape[1]] + self.kinds.weight[0]
        x = self.norm(x)
        mask = there[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        there = there.unsqueeze(-1).to(x.dtype)
        pooled = (x * there).sum(1) / there.sum(1)
        return F.normalize(pooled.float(), dim=-1)

    def set_bits(self, words: int, layers: int) -> None:
        """Pretends from now on that weights are rounded."""
        self.word_bits = words
        for module in self.modules():
            if isinstance(module, Linear):
                module.bits = layers

    def bert_state(self) -> dict[str, torch.Tensor]:
        """Returns the weights under their names in BERT, the kind of token added to positions."""
        state = {
            "embeddings.word_embeddings.weight": self.words.weight,
            "embeddings.position_embeddings.weight": self.positions.weight,
            "embeddings.token_type_embeddings.weight": self.kinds.weight,
            "embeddings.LayerNorm.weight": self.norm.weight,
            "embeddings.LayerNorm.bias": self.norm.bias,
        }
        for at, layer in enumerate(self.layers):
            for ours, theirs in Layer.NAMES.items():
                for part in ("weight", "bias"):
                    state[f"encoder.layer.{at}.{theirs}.{part}"] = getattr(getattr(layer, ours), part)
        return {name: value.detach() for name, value in state.items()}

    def load_bert(self, state: dict[str, torch.Tensor], layers: list[int]) -> None:
        """Takes weights by their names in BERT; `layers` says which of theirs become ours."""
        with torch.no_grad():
            for name, own in self.bert_state().items():
                if name.startswith("encoder.layer."):
                    head, at, rest = "encoder.layer", *name.removeprefix("encoder.layer.").split(".", 1)
                    name = f"{head}.{layers[int(at)]}.{rest}"
                own.copy_(state[name][: own.shape[0]].to(own.dtype))


class Table(nn.Module):
    """One vector for each word piece; a text is the sum of its pieces, with length 1."""

    def __init__(self, rows: torch.Tensor, bigram_rows: int = 0):
        super().__init__()
        self.rows = nn.Parameter(rows.clone())
        self.bigrams = nn.Parameter(torch.zeros(max(bigram_rows, 1), rows.shape[1]))
        self.bigram_rows = bigram_rows

    def forward(self, ids, there):
        """`ids` are padded word pieces without [CLS] and [SEP]."""
        weights = there.to(self.rows.dtype)
        summed = torch.einsum("bl,bld->bd", weights, F.embedding(ids, self.rows))
        if self.bigram_rows:
            pair = (ids[:, :-1] * 31 + ids[:, 1:] * 2654435761) % (1 << 32) % self.bigram_rows
            both = weights[:, :-1] * weights[:, 1:]
            summed = summed + torch.einsum("bl,bld->bd", both, F.embedding(pair, self.bigrams))
        return F.normalize(summed, dim=-1)
