#!/usr/bin/python3
"""What crop, flip and cutout do to the first rows of an epoch, from Philox4x32-10 written out in Python integers.

Prints FIXED of tests/spec/data_augment_spec.lua: for rows 0 to 7 of 6×7 images whose pixels are numbered from 1, seed 1,
epoch 1, crop 2, flip, cutout 3: the first pixel that is left, the place where it stands, top and left of the square.
Run by hand; the values stand in the spec."""

H, W, CROP, CUTOUT, SEED, EPOCH = 6, 7, 2, 3, 1, 1
STREAM = 6 << 32 | EPOCH  # LG_STREAM_AUGMENT
MASK = 0xFFFFFFFF


def philox(seed, stream, index):
    """Four 32-bit words (Salmon, Moraes, Dror, Shaw 2011)."""
    c = [index & MASK, index >> 32, stream & MASK, stream >> 32]
    k = [seed & MASK, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & MASK, p >> 32 ^ c[3] ^ k[1], p & MASK]
        k = [k[0] + 0x9E3779B9 & MASK, k[1] + 0xBB67AE85 & MASK]
    return c


# The first known answer that is published with the generator.
assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]

for row in range(8):
    words = philox(SEED, STREAM, row)
    down, across = (word * (2 * CROP + 1) // 2**32 - CROP for word in words[:2])
    centre, flip = divmod(words[2] * H * W // 2**32, W), words[3] >= 2**31
    image = {}
    for h in range(H):
        for w in range(W):
            y, x = h + down, (W - 1 - w if flip else w) + across
            erased = all(-(CUTOUT // 2) <= a - b < CUTOUT - CUTOUT // 2 for a, b in zip((h, w), centre))
            if not erased and 0 <= y < H and 0 <= x < W:
                image[h * W + w + 1] = y * W + x + 1
    place = min(image)
    top, left = (max(0, c - CUTOUT // 2) for c in centre)
    print(f'"{image[place]}@{place} {top},{left}",')
