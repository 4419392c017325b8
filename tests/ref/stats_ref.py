#!/usr/bin/python3
"""Reference values for tests/spec/stats_spec.lua and figures_spec.lua, from scipy, numpy and mpmath alone.

Writes tests/ref/stats_ref.lua. Run by hand when cases change: /usr/bin/python3 tests/ref/stats_ref.py
The t quantiles are scipy's, polished with mpmath: scipy 1.10 alone is off by up to 4e-9 (at 39 degrees of freedom).
"""
import os
import sys

import mpmath
import numpy as np
from scipy import stats

mpmath.mp.dps = 40

rng = np.random.default_rng(20240607)
random = np.random.default_rng(5)  # of what came later, so that the earlier cases stay


def lua_list(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def t_quantile(p, df):
    """Root of the distribution function at 40 digits, started from and compared with scipy's value."""
    if p == 0.5:
        return 0.0
    start = float(stats.t.ppf(p, df))
    half = mpmath.mpf(df) / 2
    tail = 2 * min(mpmath.mpf(p), 1 - mpmath.mpf(p))

    def excess(t):
        return mpmath.betainc(half, mpmath.mpf(1) / 2, 0, df / (df + t * t), regularized=True) - tail

    t = float(mpmath.sign(p - 0.5) * abs(mpmath.findroot(excess, abs(start))))
    assert abs(t - start) <= 1e-8 * abs(t), (p, df, t, start)
    return t


def quantiles():
    yield "  t_quantile = {  -- p, degrees of freedom, t"
    cases = [(0.975, n - 1) for n in list(range(2, 61)) + list(range(61, 1001, 47)) + [999, 1000]]
    cases += [(p, df) for p in (0.001, 0.05, 0.4, 0.5, 0.6, 0.9, 0.995, 0.999) for df in (1, 2, 3, 4, 7, 30, 31, 999)]
    cases += [(0.975, 99999)]
    for p, df in cases:
        yield f"    {{{p!r}, {df}, {t_quantile(p, df)!r}}},"
    yield "  },"


def summaries():
    yield "  summary = {  -- list, mean, sample sd, half width of the 95 % interval"
    lists = [rng.normal(0.9, 0.003, n) for n in (2, 3, 5, 10, 101)]
    lists += [1e9 + rng.normal(0, 1e-3, 6), 1e-200 * rng.normal(0, 1, 4), 1e200 * rng.normal(0, 1, 4)]
    for x in lists:
        y = [mpmath.mpf(float(v)) for v in x]
        n = len(y)
        mean = mpmath.fsum(y) / n
        sd = mpmath.sqrt(mpmath.fsum((v - mean) ** 2 for v in y) / (n - 1))
        ci = t_quantile(0.975, n - 1) * sd / mpmath.sqrt(n)
        yield f"    {{{lua_list(x)}, {float(mean)!r}, {float(sd)!r}, {float(ci)!r}}},"
    yield "  },"


def spearmans():
    yield "  spearman = {  -- a, b, rho"
    for n, ties in ((2, False), (3, False), (4, True), (7, True), (17, False), (50, True)):
        a, b = rng.normal(0, 1, n), rng.normal(0, 1, n)
        if ties:
            a, b = np.round(a), np.round(b)
        yield f"    {{{lua_list(a)}, {lua_list(b)}, {float(stats.spearmanr(a, b)[0])!r}}},"
    yield "  },"


def paireds():
    yield "  paired = {  -- a, b, mean of a - b, half width of its 95 % interval"
    for n in (2, 3, 5, 20):
        b = random.normal(0.9, 0.005, n)
        a = b + random.normal(0.002, 0.001, n)
        low, high = stats.ttest_1samp(a - b, 0).confidence_interval(0.95)
        yield f"    {{{lua_list(a)}, {lua_list(b)}, {float(np.mean(a - b))!r}, {float(high - low) / 2!r}}},"
    yield "  },"


def half_width(x):
    low, high = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    return float(high - low) / 2


def cells():
    """One cell of figure 1: init modes x seeds, with a baseline of each seed; epochs x gates of lambda for each run."""
    seeds, inits, epochs, gates = 4, 3, 5, 3
    own = random.normal(0, 1, (epochs + 1, seeds * inits, gates))
    bvs = np.round(random.normal(0.9, 0.004, (inits, seeds)), 6)
    baseline = np.round(random.normal(0.898, 0.003, seeds), 6)
    walks = 1 + np.exp(0.1 * np.cumsum(own, axis=0)).transpose(1, 0, 2).reshape(inits, seeds, epochs + 1, gates)
    delta = bvs - baseline
    drift = np.abs(np.diff(walks, axis=2)).mean(axis=(2, 3))
    yield "  cell = {"
    yield "    bvs = {" + ", ".join(lua_list(r) for r in bvs) + "},  -- [init][seed]"
    yield f"    baseline = {lua_list(baseline)},"
    yield "    lambda = {  -- [init][seed][epoch][gate]"
    for of_init in walks:
        text = ", ".join("{" + ", ".join(lua_list(row) for row in run) + "}" for run in of_init)
        yield "      {" + text + "},"
    yield "    },"
    yield f"    delta = {float(delta.mean())!r}, delta_ci95 = {half_width(delta.mean(axis=0))!r},"
    yield f"    pairs_ci95 = {half_width(delta.ravel())!r},"
    yield f"    drift = {float(drift.mean())!r}, drift_ci95 = {half_width(drift.mean(axis=0))!r},"
    last = walks[:, :, -1, :]
    rho = [[np.mean([stats.spearmanr(last[i, s], last[j, s])[0] for s in range(seeds)]) for j in range(inits)]
           for i in range(inits)]
    yield "    rho = {" + ", ".join(lua_list(r) for r in rho) + "},  -- of the last epoch, mean over seeds"
    yield "  },"


def order_statistics():
    yield "  quantile = {  -- list, q, quantile"
    for n in (1, 2, 5, 8):
        x = rng.normal(0, 1, n)
        for q in (0.0, 0.1, 0.5, 0.77, 1.0):
            yield f"    {{{lua_list(x)}, {q!r}, {float(np.quantile(x, q))!r}}},"
    yield "  },"


def drifts():
    yield "  drift = {  -- rows, mean absolute change per epoch and gate"
    for epochs, gates in ((2, 1), (4, 3), (11, 5)):
        rows = 1 + rng.exponential(2, (epochs, gates))
        text = "{" + ", ".join(lua_list(r) for r in rows) + "}"
        yield f"    {{{text}, {float(np.mean(np.abs(np.diff(rows, axis=0))))!r}}},"
    yield "  },"


def main():
    out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stats_ref.lua")
    lines = ["-- Reference values of tests/spec/stats_spec.lua and figures_spec.lua; written by tests/ref/stats_ref.py, not by hand.",
             "-- luacheck: no max line length", "return {"]
    for part in (quantiles, summaries, spearmans, order_statistics, drifts, paireds, cells):
        lines.extend(part())
    lines.append("}")
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    print(out, file=sys.stderr)


main()
