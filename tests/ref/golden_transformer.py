#!/usr/bin/python3
"""Writes golden_transformer.json: five AdamW steps of a small ViT and a small GPT (one with tied weights, one without) in
PyTorch, float64, for golden_transformer_spec.lua.

Needs Debian's python3-torch. Usage: /usr/bin/python3 tests/ref/golden_transformer.py > tests/ref/golden_transformer.json
Weights and inputs are not stored: both sides draw them from a counter (draw() below), as float32, parameter after
parameter in the engine's order and layout; scales of normalizations are 1 + what is drawn. Attention is PyTorch's own
nn.MultiheadAttention rather than the formula again. Printed: loss before each step, λ after it, and the loss of the first
batch at the end.
"""
import json
import math
import numpy
import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
T, LAMBDA0, LR, DECAY, C, STEPS, BATCH = 0.1, 1.3, 2e-3, 0.05, 3, 5, 6
WIDTH, HEADS, DEPTH, BOUND = 12, 3, 2, 0.35
VIT = dict(classes=7, side=8, patch=4)
GPT = dict(classes=11, context=9)


def draw(stream, shape, bound):
    """float32 values in [-bound, bound): SplitMix64 of (stream << 32) + position, its upper 24 bits."""
    n = int(numpy.prod(shape))
    with numpy.errstate(over="ignore"):
        z = (numpy.arange(n, dtype=numpy.uint64) + numpy.uint64((stream << 32) + 1)) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    u = (z >> numpy.uint64(40)).astype(numpy.float64) / 2**24
    return torch.tensor(((2 * u - 1) * bound).astype(numpy.float32).astype(numpy.float64)).reshape(shape)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.s = nn.Parameter(torch.tensor(T * math.log(math.expm1(LAMBDA0 - 1))))

    def value(self):
        return 1 + F.softplus(self.s / T, threshold=1e9)

    def forward(self, x):
        return x * 0.5 * torch.erfc(-self.value() * x / math.sqrt(2))


class Block(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.up, self.gate, self.down = nn.Linear(WIDTH, 4 * WIDTH), Gate(), nn.Linear(4 * WIDTH, WIDTH)
        self.causal = causal

    def order(self):
        a = self.attention
        return [self.norm1.weight, self.norm1.bias, a.in_proj_weight, a.in_proj_bias, a.out_proj.weight, a.out_proj.bias,
                self.norm2.weight, self.norm2.bias, self.up.weight, self.up.bias, self.down.weight, self.down.bias]

    def forward(self, x):
        y, n = self.norm1(x), x.shape[1]
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool), 1) if self.causal else None
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.down(self.gate(self.up(self.norm2(x))))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        tokens = (VIT["side"] // VIT["patch"]) ** 2
        self.patches = nn.Conv2d(3, WIDTH, VIT["patch"], VIT["patch"])
        self.token, self.positions = nn.Parameter(torch.zeros(WIDTH)), nn.Parameter(torch.zeros(tokens + 1, WIDTH))
        self.blocks = nn.ModuleList([Block(False) for _ in range(DEPTH)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VIT["classes"])

    def order(self):
        return [self.patches.weight, self.patches.bias, self.token, self.positions] + \
            [p for b in self.blocks for p in b.order()] + \
            [self.norm.weight, self.norm.bias, self.head.weight, self.head.bias]

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), 1, WIDTH), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class GPT2(nn.Module):
    def __init__(self, tie):
        super().__init__()
        self.tokens = nn.Embedding(GPT["classes"], WIDTH)
        self.positions = nn.Parameter(torch.zeros(GPT["context"], WIDTH))
        self.blocks = nn.ModuleList([Block(True) for _ in range(DEPTH)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, GPT["classes"], bias=False)
        self.tie = tie
        if tie:
            self.head.weight = self.tokens.weight

    def order(self):
        return [self.tokens.weight, self.positions] + [p for b in self.blocks for p in b.order()] + \
            [self.norm.weight, self.norm.bias] + ([] if self.tie else [self.head.weight])

    def forward(self, x):
        x = self.tokens(x) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).transpose(1, 2)


def fill(net):
    norms = {id(m.weight) for m in net.modules() if isinstance(m, nn.LayerNorm)}
    with torch.no_grad():
        for stream, p in enumerate(net.order()):
            if p.dim() == 4:
                o, i, h, w = p.shape
                p.copy_(draw(stream, (o, h, w, i), BOUND).permute(0, 3, 1, 2))
            else:
                p.copy_(draw(stream, tuple(p.shape), BOUND) + (1 if id(p) in norms else 0))


def train(net, batches):
    fill(net)
    gates = [m for m in net.modules() if isinstance(m, Gate)]
    plain = [p for p in net.order() if p.dim() < 2 or p is net.positions]
    decayed = [p for p in net.order() if p.dim() > 1 and p is not net.positions]
    opt = torch.optim.AdamW([dict(params=decayed, weight_decay=DECAY), dict(params=plain, weight_decay=0.0),
                             dict(params=[g.s for g in gates], weight_decay=0.0, lr=C * LR)], lr=LR)
    losses, lambdas = [], []
    for x, y in batches:
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
        lambdas.append([g.value().item() for g in gates])
    with torch.no_grad():
        end = F.cross_entropy(net(batches[0][0]), batches[0][1]).item()
    return {"loss": losses, "lambda": lambdas, "end": end}


pixels = draw(1000, (STEPS, BATCH, 3, VIT["side"], VIT["side"]), 1.7)
images = [(pixels[i], torch.tensor([(i * BATCH + k) * 3 % VIT["classes"] for k in range(BATCH)])) for i in range(STEPS)]
ids = [torch.tensor([[(i * 5 + b * 7 + k * k) % GPT["classes"] for k in range(GPT["context"] + 1)] for b in range(BATCH)])
       for i in range(STEPS)]
text = [(t[:, :-1], t[:, 1:]) for t in ids]
print(json.dumps({
    "t": T, "lambda0": LAMBDA0, "lr": LR, "decay": DECAY, "c": C, "batch": BATCH, "width": WIDTH, "heads": HEADS,
    "depth": DEPTH, "bound": BOUND, "vit_data": VIT, "gpt_data": GPT, "vit": train(ViT(), images),
    "gpt": train(GPT2(False), text), "gpt_tied": train(GPT2(True), text)}, indent=1))
