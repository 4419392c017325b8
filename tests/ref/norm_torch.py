#!/usr/bin/python3
"""Writes norm_torch.json: batch normalization and pooling in PyTorch, float64, the reference of norm_torch_spec.lua.

Needs Debian's python3-torch. Usage: /usr/bin/python3 tests/ref/norm_torch.py > tests/ref/norm_torch.json
Images are stored channels last, as the engine takes them. loss = mean((y - target)²); every stored number is a float32
except results. Kept of each case: y, the gradients of x and of the parameters, running statistics after the step.
"""
import json
import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(11)


def randn(*shape):
    return torch.randn(*shape, generator=generator).to(torch.float32).to(torch.float64)


def flat(t):
    return t.detach().flatten().tolist()


def last(t):
    return t.permute(0, 2, 3, 1)


def case(name, shape, fn, params=(), **more):
    """shape: of x, channels last. fn(x channels first, *params) → y channels first, or [batch, channels]."""
    x = (randn(*shape) * 1.5 + 0.5).requires_grad_()
    leaves = [p.clone().requires_grad_() for p in params]
    y = fn(x.permute(0, 3, 1, 2), *leaves)
    y = last(y) if y.dim() == 4 else y
    target = randn(*y.shape)
    F.mse_loss(y, target).backward()
    out = {"name": name, "shape": list(shape), "out": list(y.shape), "x": flat(x), "target": flat(target), "y": flat(y),
           "dx": flat(x.grad), "params": [flat(p) for p in params], "dparams": [flat(p.grad) for p in leaves]}
    out.update(more)
    return out


cases = []
for name, gate in (("batch_norm", None), ("batch_norm and relu", torch.relu),
                   ("batch_norm and silu", F.silu)):
    mean, var = randn(5), randn(5).abs() + 0.5
    before = [flat(mean), flat(var)]

    def norm(x, weight, bias):
        y = F.batch_norm(x, mean, var, weight, bias, training=True, momentum=0.1, eps=1e-5)
        return gate(y) if gate else y

    c = case(name, (3, 2, 4, 5), norm, (randn(5), randn(5)), op="batch_norm", before=before)
    c["after"], c["gate"] = [flat(mean), flat(var)], name.split(" ")[-1] if gate else "none"
    cases.append(c)
pool = {"kernel_h": 3, "kernel_w": 3, "stride_h": 2, "stride_w": 2, "pad_top": 1, "pad_left": 1, "pad_bottom": 1,
        "pad_right": 1}
cases.append(case("max_pool", (2, 5, 6, 3), lambda x: F.max_pool2d(x, 3, 2, 1), op="max_pool", attrs=pool))
cases.append(case("avg_pool", (2, 5, 6, 3), lambda x: F.avg_pool2d(x, 3, 2, 1), op="avg_pool", attrs=pool))
cases.append(case("global_pool", (2, 3, 4, 5), lambda x: F.adaptive_avg_pool2d(x, 1)[:, :, 0, 0], op="global_pool",
                  attrs={}))
print(json.dumps({"torch": torch.__version__, "cases": cases}, separators=(",", ":")))
