#!/usr/bin/python3
"""Writes conv_torch.json: convolutions and their gradients in PyTorch, float64, the reference of conv_spec.lua.

Needs Debian's python3-torch. Usage: /usr/bin/python3 tests/ref/conv_torch.py > tests/ref/conv_torch.json
Inputs follow from their index (see `values`), so only results are kept: of each of y, dx, dw and db its largest
magnitude and 24 elements. Gradients are of mean((y - target)²). Layouts are those of op conv2d: images channels-last,
weights [out, height, width, in/groups].
"""
import json
import torch

torch.set_default_dtype(torch.float64)
# name, x [B, h, w, ci], w [co, kh, kw, ci/groups], stride (h, w), padding (top, left, bottom, right), groups
CASES = [
    ("3x3 of 16 channels", (3, 8, 8, 16), (16, 3, 3, 16), (1, 1), (1, 1, 1, 1), 1),
    ("3x3 of odd sizes", (2, 7, 10, 19), (21, 3, 3, 19), (1, 1), (1, 1, 1, 1), 1),
    ("3x3 of 4 by 4 images", (9, 4, 4, 64), (32, 3, 3, 64), (1, 1), (1, 1, 1, 1), 1),
    ("3x3 without padding", (2, 9, 6, 16), (32, 3, 3, 16), (1, 1), (0, 0, 0, 0), 1),
    ("3x3 with asymmetric padding", (2, 6, 6, 32), (16, 3, 3, 32), (1, 1), (2, 0, 1, 3), 1),
    ("3x3 of stride 2", (2, 9, 8, 16), (24, 3, 3, 16), (2, 2), (1, 1, 1, 1), 1),
    ("3x3 of one input channel", (2, 6, 6, 1), (8, 3, 3, 1), (1, 1), (1, 1, 1, 1), 1),
    ("1x1", (2, 5, 5, 24), (16, 1, 1, 24), (1, 1), (0, 0, 0, 0), 1),
    ("1x1 of stride 2", (2, 6, 6, 24), (16, 1, 1, 24), (2, 2), (0, 0, 0, 0), 1),
    ("groups", (2, 6, 5, 12), (8, 3, 2, 3), (2, 1), (1, 0, 0, 1), 4),
    ("kernel larger than the image", (2, 3, 2, 4), (6, 5, 5, 4), (1, 1), (2, 2, 2, 2), 1),
]


def values(shape, salt):
    """(i² · 31 + i · 17 + salt) mod 1009, scaled to -1 … 1 and rounded to float32."""
    i = torch.arange(torch.Size(shape).numel(), dtype=torch.int64)
    v = ((i * i * 31 + i * 17 + salt) % 1009).to(torch.float64) / 504.0 - 1
    return v.to(torch.float32).to(torch.float64).reshape(shape)


def picked(t):
    flat = t.detach().reshape(-1)
    places = torch.linspace(0, flat.numel() - 1, min(24, flat.numel())).round().to(torch.int64)
    return {"largest": flat.abs().max().item(), "at": [p + 1 for p in places.tolist()], "is": flat[places].tolist()}


def main():
    out = []
    for name, xs, ws, stride, (top, left, bottom, right), groups in CASES:
        x, w, b = (values(s, k).requires_grad_() for s, k in ((xs, 1), (ws, 2), (ws[:1], 3)))
        padded = torch.nn.functional.pad(x.permute(0, 3, 1, 2), (left, right, top, bottom))
        y = torch.nn.functional.conv2d(padded, w.permute(0, 3, 1, 2), b, stride=stride, groups=groups)
        y = y.permute(0, 2, 3, 1).contiguous()
        torch.nn.functional.mse_loss(y, values(y.shape, 4)).backward()
        out.append({"name": name, "x": xs, "w": ws, "stride": stride, "groups": groups,
                    "padding": {"top": top, "left": left, "bottom": bottom, "right": right}, "shape": list(y.shape),
                    "values": {"y": picked(y), "dx": picked(x.grad), "dw": picked(w.grad), "db": picked(b.grad)}})
    print("[\n" + ",\n".join(json.dumps(case) for case in out) + "\n]")


if __name__ == "__main__":
    main()
