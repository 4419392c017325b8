"""Coefficients of src/kernels/gate_element.h: minimax fits in 40 digits, then rounded to float32 with a search over
the common scale and the last bits.

    /usr/bin/python3 tests/ref/gate_fit.py        needs python3-mpmath and python3-numpy; takes minutes

Rational fits Q/P: linearized least squares with Lawson's weights (Lawson 1961; Cody 1970), relative to R or S.
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 40
END = mp.mpf("14.78")  # a little past the step at 14.75
POINTS = 200


def mills(a):
    """R(a) = (1 - Phi(a)) exp(a^2/2)"""
    return mp.erfc(a / mp.sqrt(2)) * mp.e ** (a * a / 2) / 2


INV = 1 / mp.sqrt(2 * mp.pi)
ZERO = mp.findroot(lambda a: mills(a) - a * INV, mp.mpf("0.7518"))


def slope(a):
    """S(a) = (R(a) - a/sqrt(2 pi)) / (a - ZERO)"""
    if abs(a - ZERO) < mp.mpf(10) ** -12:
        a = ZERO + mp.mpf(10) ** -12
    return (mills(a) - a * INV) / (a - ZERO)


def float32(value):
    return mp.mpf(float(np.float32(float(value))))


def grid():
    """Chebyshev points in (a - 2.5)/(a + 2.5), which spreads the fit's error evenly."""
    k = mp.mpf("2.5")
    high = (END - k) / (END + k)
    qs = [-1 + (high + 1) * (1 - mp.cos(mp.pi * i / POINTS)) / 2 for i in range(POINTS + 1)]
    return [k * (1 + q) / (1 - q) for q in qs]


def lawson(rows, errors_of, steps=80):
    """rows(denominators before) gives (coefficients of the unknowns, right side) per point, errors_of(solution) the
    errors and the denominators; returns the least of the greatest errors and its solution."""
    weights, before, best = None, None, None
    for step in range(steps):
        system = rows(before)
        weights = weights or [mp.mpf(1)] * len(system)
        n = len(system[0][0])
        matrix, right = mp.matrix(n, n), mp.matrix(n, 1)
        for (row, value), w in zip(system, weights):
            for i in range(n):
                right[i] += w * row[i] * value
                for j in range(n):
                    matrix[i, j] += w * row[i] * row[j]
        solution = mp.lu_solve(matrix, right)
        errors, before = errors_of(solution)
        if best is None or max(errors) < best[0]:
            best = (max(errors), solution)
        if step >= 3:
            weights = [w * e for w, e in zip(weights, errors)]
            total = sum(weights)
            weights = [w / total for w in weights]
    return best


def fit_rational(target, weight, q_degree, p_degree):
    """Q, P (P's constant is 1) with Q/P near target; weight makes the error relative to what it is used for."""
    points = grid()
    values, scales = [target(a) for a in points], [weight(a) for a in points]

    def split(s):
        q = [s[j] / END**j for j in range(q_degree + 1)]
        p = [mp.mpf(1)] + [s[q_degree + j] / END**j for j in range(1, p_degree + 1)]
        return q, p

    def rows(before):
        system = []
        for i, a in enumerate(points):
            s = scales[i] / (before[i] if before else 1)
            y = a / END
            system.append(([s * y**j for j in range(q_degree + 1)]
                           + [-s * values[i] * y**j for j in range(1, p_degree + 1)], s * values[i]))
        return system

    def errors_of(s):
        q, p = split(s)
        below = [mp.polyval(p[::-1], a) for a in points]
        return [abs(mp.polyval(q[::-1], a) / b - v) * w for a, b, v, w in zip(points, below, values, scales)], below

    error, solution = lawson(rows, errors_of)
    return error, *split(solution)


def round_rational(q, p, error, scales):
    """Both polynomials times one scale, rounded to float32; the scale and then each last bits are chosen by error(q, p)."""
    rng = np.random.default_rng(3)
    found = []
    for scale in rng.uniform(*scales, 3000):
        v = np.array([np.float32(float(c) * scale) for c in q + p])
        found.append((error(v[: len(q)], v[len(q):]), tuple(v)))
    found.sort(key=lambda pair: pair[0])
    best = None
    for current, v in found[:6]:
        v, better = np.array(v), True
        while better:
            better = False
            for i in range(len(v)):
                for steps in (-4, -2, -1, 1, 2, 4):
                    w = v.copy()
                    for _ in range(abs(steps)):
                        w[i] = np.nextafter(w[i], np.float32(np.inf if steps > 0 else -np.inf))
                    e = error(w[: len(q)], w[len(q):])
                    if e < current * 0.9999:
                        v, current, better = w, e, True
        if best is None or current < best[0]:
            best = (current, v[: len(q)], v[len(q):])
    return best


def report(name, ideal, rounded):
    print(name, "log2 of the relative error: %.2f, rounded to float32 %.2f" % (mp.log(ideal, 2), np.log2(float(rounded[0]))))
    print("  Q, from the constant on:", ", ".join("%.9g" % c for c in rounded[1]))
    print("  P, from the constant on:", ", ".join("%.9g" % c for c in rounded[2]))


def rationals():
    inv = float32(INV)
    points = np.array([np.longdouble(mp.nstr(a, 25)) for a in grid()])
    wide = np.longdouble(float(inv))

    def values(q, p):
        return np.polyval(q[::-1].astype(np.longdouble), points), np.polyval(p[::-1].astype(np.longdouble), points)

    def table(f):
        return np.array([np.longdouble(mp.nstr(f(a), 25)) for a in grid()])

    mills_table, slope_table = table(mills), table(slope)

    def mills_error(q, p):
        q, p = values(q, p)
        return np.max(np.abs(wide * p / (points * p + q) / mills_table - 1))

    def slope_error(q, p):
        q, p = values(q, p)
        return np.max(np.abs((q / p - wide) / slope_table - 1))

    ideal, q, p = fit_rational(lambda a: inv / mills(a) - a, lambda a: mills(a) / inv, 4, 4)
    report("R = inv P/(a P + Q)", ideal, round_rational(q, p, mills_error, (1.70, 1.86)))
    ideal, q, p = fit_rational(lambda a: slope(a) + inv, lambda a: 1 / abs(slope(a)), 4, 4)
    report("S = Q/P - inv", ideal, round_rational(q, p, slope_error, (1.0, 2.0)))


def exponential():
    end = mp.log(2) / 2 * mp.mpf("1.0005")
    points = [end * mp.cos(mp.pi * (i + mp.mpf("0.5")) / 80) for i in range(80)]

    def rows(_):
        return [([a ** (2 + j) / mp.e**a for j in range(5)], 1 - (1 + a) / mp.e**a) for a in points]

    def errors_of(s):
        return [abs((1 + a + sum(s[j] * a ** (2 + j) for j in range(5))) / mp.e**a - 1) for a in points], None

    error, s = lawson(rows, errors_of)
    print("exp(r) = 1 + r + r^2 (C2 + …), log2 of the relative error: %.2f" % mp.log(error, 2))
    print("  C2 … C6:", ", ".join(mp.nstr(c, 12) for c in s))


if __name__ == "__main__":
    print("a0 = %s" % mp.nstr(ZERO, 20))
    exponential()
    rationals()
