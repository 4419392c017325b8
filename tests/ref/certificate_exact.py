#!/usr/bin/python3
"""certificate_exact.py: writes certificate_exact.json: small networks whose logits before and after the swap to ReLU are
known to 400 digits (mpmath), every other one with sums in which nearly everything cancels; and single gates.

Each network: layers [weights, bias, lambda] (lambda 0: no gate behind the layer), input, and the smooth logits and their
change (ReLU network minus smooth network) as pairs of float64, high + low. The last ones are a single long sum, so that
its own rounding shows. Each gate: x, lambda, x·Phi(lambda·x) and max(x, 0) minus that. All weights, inputs and lambdas
are float64 exactly as printed. Used by tests/spec/certificate_spec.lua.
Run: /usr/bin/python3 tests/ref/certificate_exact.py > tests/ref/certificate_exact.json
"""
import json
import random

import mpmath as mp

mp.mp.dps = 400


def gate(x, lam):
    return x * mp.erfc(-mp.mpf(lam) * x / mp.sqrt(2)) / 2


def forward(layers, x, relu):
    x = [mp.mpf(v) for v in x]
    for weights, bias, lam in layers:
        x = [sum((mp.mpf(w) * v for w, v in zip(row, x)), mp.mpf(b)) for row, b in zip(weights, bias)]
        if lam:
            x = [max(v, mp.mpf(0)) if relu else gate(v, lam) for v in x]
    return x


def pair(v):
    high = float(v)
    return [high, float(v - mp.mpf(high))]


def cancelling(rng, row, x):
    """Changes the last weight so that row·x nearly vanishes, at a random scale."""
    if not x[-1]:
        return row
    total = sum((mp.mpf(w) * mp.mpf(v) for w, v in zip(row[:-1], x[:-1])), mp.mpf(0))
    return row[:-1] + [float(-total / mp.mpf(x[-1]))]


def network(rng, cancel, widths=None):
    widths = (widths or [rng.randint(2, 7) for _ in range(rng.randint(2, 4))]) + [3]
    spread = rng.choice([0, 3, 12])
    x = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-spread, spread) for _ in range(widths[0])]
    layers, at = [], x
    for i in range(1, len(widths)):
        weights = [[rng.gauss(0, 1) for _ in range(widths[i - 1])] for _ in range(widths[i])]
        bias = [rng.gauss(0, 0.3) * rng.randint(0, 1) for _ in range(widths[i])]
        if cancel:
            weights = [cancelling(rng, row, [float(v) for v in at]) for row in weights]
        lam = 0 if i == len(widths) - 1 else rng.choice([1.0, 1.7, 12.5, 159.577, 1e6])
        layers.append([weights, bias, lam])
        at = forward(layers, x, False)
    smooth, relu = forward(layers, x, False), forward(layers, x, True)
    return {"layers": layers, "input": x, "smooth": [pair(v) for v in smooth],
            "change": [pair(t - s) for s, t in zip(smooth, relu)]}


def one_gate(rng):
    lam = rng.choice([1.0, 1.7, 12.5, 159.577, 1e6])
    x = rng.choice([-1, 1]) * rng.choice([rng.uniform(0, 6), 10 ** rng.uniform(-12, 3)]) / lam
    f = gate(mp.mpf(x), lam)
    return [x, lam, pair(f), pair(max(mp.mpf(x), mp.mpf(0)) - f)]


rng = random.Random(20)
networks = [network(rng, i % 2 == 1) for i in range(60)] + [network(rng, False, [40]) for _ in range(12)]
gates = [one_gate(rng) for _ in range(300)]
print('{"networks": [' + ",\n".join(map(json.dumps, networks)) + '],\n"gates": [' + ",\n".join(map(json.dumps, gates))
      + "]}")
