"""Writes tests/ref/tensor_text.lua: arrays and how NumPy prints them, for tests/spec/tensor_text_spec.lua.

Run: /usr/bin/python3 tests/ref/tensor_text.py > tests/ref/tensor_text.lua
"""
import numpy as np

rng = np.random.default_rng(1)
cases = []


def case(values, dtype="f32"):
    array = np.array(values, dtype={"f32": "<f4", "f64": "<f8", "i32": "<i4", "u8": "u1"}[dtype])
    cases.append((array, dtype))


for dtype in ("f32", "f64"):
    case([1, 2, 3], dtype)
    case([[1, 2.5, 3], [4, 5, 6.125]], dtype)
    case([0.1, 1 / 3, 100, -5], dtype)
    case([1e10, 1, 2.5], dtype)
    case([1e-5, 1], dtype)
    case([123456, 0.5], dtype)
    case([99999999, 1e7], dtype)
    case([1e8, 1e8], dtype)
    case([0, 0], dtype)
    case([-0.0, 0], dtype)
    case([0.0001, 0.05], dtype)
    case([np.nan, np.inf, -np.inf, 1.5], dtype)
    case([np.nan, np.nan], dtype)
    case([1e-30, 1e30, 0], dtype)
    case([1.25e-7, -3e-7], dtype)
    case([0.1000000000001, 25], dtype)
    case([1.0000000000001e10, 25], dtype)
    case([1e10, 1.25e20, 200], dtype)
    case(3.5, dtype)
    case(rng.standard_normal(30), dtype)
    case(rng.standard_normal((2, 2, 3)), dtype)
    case(rng.standard_normal((3, 12)), dtype)
    case(rng.standard_normal((1, 1, 1, 2)), dtype)
    case(np.arange(1200).reshape(3, 400) / 4, dtype)
    case(np.arange(2000) / 8, dtype)
    case(np.arange(12 * 10 * 10).reshape(12, 10, 10), dtype)
case(np.arange(100), "i32")
case(np.arange(1001), "i32")
case([[-5, 10], [100, 0]], "i32")
case([[0, 255], [3, 4]], "u8")
case(7, "i32")


def lua(array):
    if array.ndim:
        return "{ " + ", ".join(lua(a) for a in array) + " }"
    v = float(array)
    return "0 / 0" if v != v else "math.huge" if v == np.inf else "-math.huge" if v == -np.inf else repr(v)


print("-- Made by tests/ref/tensor_text.py: { values or the number of an arange and its divisor, shape, dtype, text }.")
print("-- luacheck: ignore 631")
print("return {")
for array, dtype in cases:
    divisor = 1 / float(array.flat[1]) if array.size > 100 else 0
    values = "{ arange = %d, divisor = %g }" % (array.size, divisor) if array.size > 100 else lua(array)
    shape = ", ".join(str(n) for n in array.shape)
    text = str(array).replace("...", "…") if array.ndim else str(array)
    print('  { %s, { %s }, "%s", [==[\n%s]==] },' % (values, shape, dtype, text))
print("}")
