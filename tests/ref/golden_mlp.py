#!/usr/bin/python3
"""Writes golden_mlp.json: ten training steps of a small λ-GELU MLP in PyTorch, float64, the reference of golden_spec.lua.

Needs Debian's python3-torch. Usage: /usr/bin/python3 tests/ref/golden_mlp.py > tests/ref/golden_mlp.json
Every number of the start (weights, s, inputs) is a float32, so that a float32 engine starts from the very same values.
Optimizers: AdamW with the rate of s multiplied by c = 3, decay on matrices only; SGD with Nesterov momentum and L2 on
matrices only, c = 3; SGD plain with c = 1. Each step uses its own batch. Printed: loss before each step, the λ after it.
"""
import json
import math
import torch

torch.set_default_dtype(torch.float64)
SIZES, BATCH, STEPS, T, LAMBDA0 = (10, 16, 12, 5), 16, 10, 0.1, (1.1, 1.4)


def f32(x):
    return x.to(torch.float32).to(torch.float64)


class Net(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        self.w = torch.nn.ParameterList([torch.nn.Parameter(w.clone()) for w in start["w"]])
        self.b = torch.nn.ParameterList([torch.nn.Parameter(b.clone()) for b in start["b"]])
        self.s = torch.nn.ParameterList([torch.nn.Parameter(torch.tensor(s)) for s in start["s"]])

    def lambdas(self):
        return [1 + torch.nn.functional.softplus(s / T, threshold=1e9) for s in self.s]

    def forward(self, x):
        lam = self.lambdas()
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            x = x @ w.T + b
            if i < len(self.s):
                x = x * 0.5 * torch.erfc(-lam[i] * x / math.sqrt(2))
        return x


def start():
    g = torch.Generator().manual_seed(7)
    w = [f32(torch.empty(o, i).uniform_(-1, 1, generator=g) * 1.5 / math.sqrt(i)) for i, o in zip(SIZES, SIZES[1:])]
    b = [f32(torch.empty(o).uniform_(-0.3, 0.3, generator=g)) for o in SIZES[1:]]
    s = [T * math.log(math.expm1(v - 1)) for v in LAMBDA0]
    x = f32(torch.randn(STEPS, BATCH, SIZES[0], generator=g))
    y = torch.randint(SIZES[-1], (STEPS, BATCH), generator=g)
    return {"w": w, "b": b, "s": s, "x": x, "y": y}


def run(begin, make):
    net = Net(begin)
    opt, out = make(net), {"loss": [], "lambda": []}
    for x, y in zip(begin["x"], begin["y"]):
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y, label_smoothing=0.1)
        loss.backward()
        opt.step()
        out["loss"].append(loss.item())
        out["lambda"].append([v.item() for v in net.lambdas()])
    out["w1"] = net.w[1].detach().flatten().tolist()
    return out


def groups(net, lr, decay, c):
    return [{"params": list(net.w), "lr": lr, "weight_decay": decay}, {"params": list(net.b), "lr": lr, "weight_decay": 0},
            {"params": list(net.s), "lr": c * lr, "weight_decay": 0}]


begin = start()
runs = {
    "adamw": run(begin, lambda n: torch.optim.AdamW(groups(n, 1e-2, 0.05, 3), betas=(0.9, 0.99), eps=1e-8)),
    "adam": run(begin, lambda n: torch.optim.Adam(groups(n, 1e-2, 0.05, 3))),
    "nesterov": run(begin, lambda n: torch.optim.SGD(groups(n, 0.05, 1e-3, 3), lr=0.05, momentum=0.9, nesterov=True)),
    "sgd": run(begin, lambda n: torch.optim.SGD(groups(n, 0.1, 0, 1), lr=0.1)),
}
print(json.dumps({
    "torch": torch.__version__, "sizes": SIZES, "t": T, "lambda0": LAMBDA0,
    "w": [w.flatten().tolist() for w in begin["w"]], "b": [b.tolist() for b in begin["b"]],
    "x": [x.flatten().tolist() for x in begin["x"]], "y": begin["y"].tolist(), "runs": runs,
}, indent=None, separators=(",", ":")))
