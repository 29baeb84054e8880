#!/usr/bin/env python3
"""Flips bytes of a file of facts (dwarf/records/records_file.c) and signs it again.

usage: flip_records.py SEED FROM TO
"""
import random
import struct
import sys
import zlib

CHECKSUM, SIGNED_FROM = 40, 48  # struct header
MASK = (1 << 64) - 1
BLOCK = 1 << 20


def checksum_of_block(data):
    lanes, at = [1, 2, 3, 4], 0
    while at + 32 <= len(data):
        for lane, word in enumerate(struct.unpack_from("<4Q", data, at)):
            value = ((lanes[lane] ^ word) * 0x9E3779B97F4A7C15) & MASK
            lanes[lane] = value ^ value >> 29
        at += 32
    for byte in data[at:]:
        lanes[0] = ((lanes[0] ^ byte) * 0x100000001B3) & MASK
    return ((lanes[0] * 3 ^ lanes[1] * 5 ^ lanes[2] * 7 ^ lanes[3]) + len(data)) & MASK


def checksum(data):
    """As checksum() there."""
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    sums = [checksum_of_block(block) for block in blocks]
    return checksum_of_block(struct.pack(f"<{len(sums)}Q", *sums))


def main():
    seed, source, target = sys.argv[1:]
    chance = random.Random(int(seed))
    with open(source, "rb") as file:
        data = file.read()
    if data.startswith(b"adbfactz"):
        data = zlib.decompress(data[16:])
    data = bytearray(data)
    if struct.unpack_from("<Q", data, CHECKSUM)[0] != checksum(data[SIGNED_FROM:]):
        sys.exit("the checksum is not what this script takes it to be")
    identity_end = SIGNED_FROM + 8 + 8 + 64
    for _ in range(chance.choice((1, 4, 32, 256))):
        data[chance.randrange(identity_end, len(data))] = chance.randrange(256)
    struct.pack_into("<Q", data, CHECKSUM, checksum(data[SIGNED_FROM:]))
    with open(target, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
