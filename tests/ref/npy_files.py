"""Writes tests/ref/npy/: arrays as NumPy itself stores them, and damaged files, for tests/spec/tensor_npy_spec.lua.

Run: /usr/bin/python3 tests/ref/npy_files.py (needs numpy only; the files are committed beside it).
"""
import os

import numpy as np
from numpy.lib import format as npy

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npy")
os.makedirs(folder, exist_ok=True)


def path(name):
    return os.path.join(folder, name + ".npy")


grid = np.arange(24).reshape(2, 3, 4)
for dtype in ("<f4", "<f8", "<i4", "<i8", "u1"):
    np.save(path("c_" + np.dtype(dtype).name), (grid * (0.25 if "f" in dtype else 1)).astype(dtype))
np.save(path("bool"), grid % 3 == 0)
np.save(path("fortran"), np.asfortranarray(grid.astype("<f4")))
np.save(path("scalar"), np.array(-2.5, dtype="<f8"))
np.save(path("empty"), np.zeros((0, 3), dtype="<f4"))
np.save(path("special"), np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4028235e38], dtype="<f4"))
for version in ((2, 0), (3, 0)):
    with open(path("version%d" % version[0]), "wb") as f:
        npy.write_array(f, np.array([1.5, 2.5], dtype="<f4"), version=version)

# What is refused.
np.save(path("bad_i8_large"), np.array([1, 2**40], dtype="<i8"))
np.save(path("bad_big_endian"), np.array([1, 2], dtype=">f4"))
np.save(path("bad_complex"), np.array([1j], dtype="<c8"))
np.save(path("bad_structured"), np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save(path("bad_rank"), np.zeros((1,) * 9, dtype="u1"))
whole = open(path("c_float32"), "rb").read()


def damaged(name, data):
    with open(path("bad_" + name), "wb") as f:
        f.write(data)


damaged("magic", b"\x93NUMPX" + whole[6:])
damaged("no_bytes", b"")
damaged("header_cut", whole[:60])
damaged("data_cut", whole[:-1])
damaged("data_long", whole + b"\0\0\0\0")
damaged("version9", whole[:6] + b"\x09" + whole[7:])
damaged("no_shape", whole.replace(b"'shape'", b"'shapx'"))
damaged("negative", whole.replace(b"(2, 3, 4)", b"(2,-3, 4)"))
damaged("huge", whole.replace(b"(2, 3, 4)", b"(99999999, 99999999, 99999999)").replace(b" " * 21, b"", 1))
damaged("lies", whole.replace(b"(2, 3, 4)", b"(2, 3, 9)"))
damaged("bracket", whole.replace(b"(2, 3, 4)", b"(2, 3, 4]"))
