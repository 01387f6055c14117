"""When Python looks for objects that only refer to each other.

By default it looks through everything that has lived for a while each time that there is a quarter
more of it. Exporting or forgetting a long memory makes hundreds of thousands of objects, and each
look through them stops everybody for up to half a second. Hardly any of them is rubbish of this
kind: so the long looks wait for a quiet moment, and the short ones, at what is new, remain.
"""

import asyncio
import gc

from assistant.quiet import QuietMoments

_NEVER = 1_000_000_000
_SECONDS_BETWEEN = 10.0
_LONGEST_PUT_OFF = 3600.0
# Short looks at what is new since the last long one, each of which leaves little.
_WORTH_A_LONG_LOOK = 10


def put_off_long_collections() -> None:
    """Leave the oldest generation to `collect_when_quiet`; what was loaded is never looked at."""
    gc.collect()
    gc.freeze()
    new, young, _ = gc.get_threshold()
    gc.set_threshold(new, young, _NEVER)


async def collect_when_quiet(moments: QuietMoments) -> None:
    """Collect the oldest generation while nobody is served, after an hour in any case; for ever."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN)
        if gc.get_count()[2] >= _WORTH_A_LONG_LOOK:
            await moments.next(until=asyncio.get_running_loop().time() + _LONGEST_PUT_OFF)
            gc.collect()
