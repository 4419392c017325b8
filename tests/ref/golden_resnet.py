#!/usr/bin/python3
"""Writes golden_resnet.json: five AdamW steps of a ResNet-18 of width 4 in PyTorch, float64, for golden_resnet_spec.lua.

Needs Debian's python3-torch. Usage: /usr/bin/python3 tests/ref/golden_resnet.py > tests/ref/golden_resnet.json
Weights and images are not stored: both sides draw them from a counter (draw() below), as float32, in the order of the
engine's layout: convolutions [out, height, width, in], images channels first. Scales start at 1, shifts and the last
layer's bias at 0. Printed: loss before each step, the λ after it, running statistics and the loss of the first batch in
evaluation mode at the end.
"""
import json
import math
import numpy
import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
WIDTH, CLASSES, SIDE, BATCH, STEPS = 4, 7, 16, 8, 5
T, LAMBDA0, LR, DECAY, C = 0.1, 1.3, 2e-3, 0.05, 3


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


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.s = torch.nn.Parameter(torch.tensor(T * math.log(math.expm1(LAMBDA0 - 1))))

    def value(self):
        return 1 + F.softplus(self.s / T, threshold=1e9)

    def forward(self, x):
        return x * 0.5 * torch.erfc(-self.value() * x / math.sqrt(2))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights, self.norms, self.gates = torch.nn.ParameterList(), torch.nn.ModuleList(), torch.nn.ModuleList()
        self.stem = self.layer(3, WIDTH, 3, 1)
        self.first = self.gate()
        self.blocks, i = [], WIDTH
        for stage in range(4):
            for number in range(2):
                o, stride = WIDTH << stage, 2 if stage and not number else 1
                a, ga, b = self.layer(i, o, 3, stride), self.gate(), self.layer(o, o, 3, 1)
                short = self.layer(i, o, 1, stride) if stride > 1 else None
                self.blocks.append((a, ga, b, short, self.gate()))
                i = o
        self.weights.append(torch.nn.Parameter(draw(len(self.weights), (CLASSES, i), math.sqrt(1 / i))))
        self.bias = torch.nn.Parameter(torch.zeros(CLASSES))

    def layer(self, i, o, kernel, stride):
        bound = math.sqrt(6 / (kernel * kernel * i))
        w = draw(len(self.weights), (o, kernel, kernel, i), bound).permute(0, 3, 1, 2).contiguous()
        self.weights.append(torch.nn.Parameter(w))
        self.norms.append(torch.nn.BatchNorm2d(o))
        return len(self.norms) - 1, kernel, stride

    def gate(self):
        self.gates.append(Gate())
        return self.gates[-1]

    def run(self, x, layer):
        k, kernel, stride = layer
        return self.norms[k](F.conv2d(x, self.weights[k], stride=stride, padding=(kernel - 1) // 2))

    def forward(self, x):
        x = self.first(self.run(x, self.stem))
        for a, ga, b, short, gb in self.blocks:
            y = self.run(ga(self.run(x, a)), b)
            x = gb(y + (self.run(x, short) if short else x))
        return x.mean((2, 3)) @ self.weights[-1].T + self.bias


net = Net()
no_decay = [p for n in net.norms for p in n.parameters()] + [net.bias]
optimizer = torch.optim.AdamW([
    {"params": list(net.weights), "lr": LR, "weight_decay": DECAY},
    {"params": no_decay, "lr": LR, "weight_decay": 0},
    {"params": [g.s for g in net.gates], "lr": C * LR, "weight_decay": 0},
], lr=LR)
images = draw(1000, (STEPS, BATCH, 3, SIDE, SIDE), 1.7)
labels = torch.arange(STEPS * BATCH).reshape(STEPS, BATCH) * 3 % CLASSES
out = {"torch": torch.__version__, "width": WIDTH, "classes": CLASSES, "side": SIDE, "batch": BATCH, "steps": STEPS,
       "t": T, "lambda0": LAMBDA0, "lr": LR, "decay": DECAY, "c": C, "loss": [], "lambda": []}
for x, y in zip(images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    out["loss"].append(loss.item())
    out["lambda"].append([g.value().item() for g in net.gates])
out["running_mean"], out["running_var"] = net.norms[-1].running_mean.tolist(), net.norms[-1].running_var.tolist()
net.eval()
out["eval_loss"] = F.cross_entropy(net(images[0]), labels[0]).item()
print(json.dumps(out, separators=(",", ":")))
