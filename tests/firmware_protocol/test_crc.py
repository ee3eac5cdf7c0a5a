from zlib import crc32

from firmware_protocol.crc import CHECK_BYTES, check_bytes
from firmware_protocol.frames import MAX_STUFFED


def test_check_is_the_ieee_crc_in_seven_bit_bytes_that_are_never_zero():
    assert crc32(b"123456789") == 0xCBF43926  # the published check value of this CRC
    assert check_bytes(b"123456789") == bytes((0xA6, 0xF2, 0xD0, 0xDF, 0x8C))
    for value in range(3000):
        data = value.to_bytes(2, "little")
        check = check_bytes(data)
        assert len(check) == CHECK_BYTES
        assert min(check) >= 0x80
        assert sum((byte & 0x7F) << 7 * place for place, byte in enumerate(check)) == crc32(data)


def test_every_pattern_of_one_to_four_wrong_bits_is_found_up_to_the_longest_frame():
    """The guarantee of PROTOCOL.md, by exhaustion, without trying 10**12 patterns one by one.

    A CRC is linear: a pattern of wrong bits goes unseen exactly if the syndromes of its bits add up (XOR) to zero.
    So nothing of one to four bits goes unseen if no syndrome is zero, all are different, and all sums of two are
    different from each other and from every single one. Shorter frames are the end of the longest one.
    """
    nothing = crc32(bytes(MAX_STUFFED))
    syndromes = []
    for place in range(MAX_STUFFED):
        for bit in range(8):
            pattern = bytearray(MAX_STUFFED)
            pattern[place] = 1 << bit
            syndromes.append(crc32(pattern) ^ nothing)
    syndromes += [1 << bit for bit in range(32)]  # the bits of the CRC itself
    assert len(syndromes) == 2032
    sums = {0, *syndromes}
    for place, one in enumerate(syndromes):
        sums.update([one ^ other for other in syndromes[:place]])
    assert len(sums) == 1 + 2032 + 2032 * 2031 // 2
