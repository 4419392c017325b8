"""Reference values of every activation, in 60-digit arithmetic: writes gate_values.csv beside this file.

    /usr/bin/python3 tests/ref/gate_values.py        needs python3-mpmath

Columns: activation, x, lambda (both exact float32 values), f, df/dx, df/dlambda. Points: the inputs of known faults,
the zero of df/dx, the edge of the normals, extremes, and random ones.
"""
import os
import random
import struct

import mpmath as mp

mp.mp.dps = 60


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def cdf(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def pdf(z):
    return mp.e ** (-z * z / 2) / mp.sqrt(2 * mp.pi)


def lambda_gelu(x, l):
    z = l * x
    return x * cdf(z), cdf(z) + z * pdf(z), x * x * pdf(z)


def sigmoid_gate(x, v, slope):
    sigmoid = 1 / (1 + mp.e ** (-v))
    return x * sigmoid, sigmoid + x * slope * sigmoid * (1 / (1 + mp.e**v)), mp.mpf(0)


def relu(x, _):
    return max(x, 0), mp.mpf(1 if x > 0 else 0), mp.mpf(0)


def gelu(x, _):
    f, slope, _ = lambda_gelu(x, mp.mpf(1))
    return f, slope, mp.mpf(0)


def gelu_tanh(x, _):
    scale, cubic = 2 * mp.sqrt(2 / mp.pi), mp.mpf("0.044715") * x * x
    return sigmoid_gate(x, scale * x * (1 + cubic), scale * (1 + 3 * cubic))


def gelu_sigmoid(x, _):
    return sigmoid_gate(x, mp.mpf("1.702") * x, mp.mpf("1.702"))


def silu(x, _):
    return sigmoid_gate(x, x, mp.mpf(1))


ACTIVATIONS = {f.__name__: f for f in (lambda_gelu, relu, gelu, gelu_tanh, gelu_sigmoid, silu)}


def text(v):
    return mp.nstr(v, 20, min_fixed=0, max_fixed=0) if v != 0 else "0"


def points(rng):
    fixed = [0, 1e-30, 1e-10, 1e-6, 0.25, 0.5, 0.75179154, 0.7518, 1, 2, 3, 4, 5, 5.5, 6, 8, 10, 13, 13.2, 14, 40, 1e4, 1e20, 3e38]
    for l in (1, 1.1, 2, 8, 160, 1e6):
        for x in fixed:
            for at in (x, x / l):
                yield at, l
                yield -at, l
    for _ in range(120):
        l = mp.e ** (rng.random() * mp.log(1000))
        yield float((rng.random() * 2 - 1) * 14.5 / l), float(l)


def main():
    rng, seen = random.Random(7), set()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate_values.csv"), "w", encoding="utf-8") as out:
        out.write("# made by gate_values.py\nactivation,x,lambda,f,df_dx,df_dlambda\n")
        for x, l in points(rng):
            x, l = float32(x), float32(l)
            for name, f in ACTIVATIONS.items():
                key = (name, x, l if name == "lambda_gelu" else 1)
                if key in seen or (name != "lambda_gelu" and l > 2):
                    continue
                seen.add(key)
                values = f(mp.mpf(x), mp.mpf(l))
                out.write(f"{name},{x:.9g},{key[2]:.9g}," + ",".join(text(v) for v in values) + "\n")


if __name__ == "__main__":
    main()
