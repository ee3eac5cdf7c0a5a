"""Whether the wall clock can be believed: the kernel knows if a time service keeps it right.

Every time service (timesyncd, chrony, ntpd) tells the kernel; no daemon and no network needs to be asked.
"""

import ctypes

# adjtimex(2): the clock is not synchronised.
TIME_ERROR = 5
# struct timex has 208 bytes on 64-bit and fewer on 32-bit machines; all zero means "only read".
TIMEX_BYTES = 512


def clock_synced() -> bool:
    """Tell whether the kernel's clock is synchronised; False also where the kernel does not say."""
    libc = ctypes.CDLL(None)
    return 0 <= int(libc.adjtimex(ctypes.create_string_buffer(TIMEX_BYTES))) < TIME_ERROR
