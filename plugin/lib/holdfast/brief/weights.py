"""The ranker's weights: plain numbers, and the run that made them.

Fitted by `python -m benchmarks.learn FOLDER --write` on real compactions:

    40 boundaries of 31 sessions
    2000 characters, held out: survival 0.757, grounded need 0.634, precision 0.391
    2000 characters, in sample: survival 0.764, grounded need 0.642, precision 0.393
    4000 characters, held out: survival 0.836, grounded need 0.754, precision 0.283
    4000 characters, in sample: survival 0.839, grounded need 0.762, precision 0.284

SYMBOL weighs the four heats of a symbol (typed and seen, each fading fast and slow); VALUE says
what a needed thing of each section is worth beside the others. Both were set by a search in
steps of 1.6 over the whole set; halving or doubling any of them moves survival by less than
0.01.
"""

from __future__ import annotations

# bias, recent, fresh, changed, changed_recently, changed_often, created, read, read_often, named,
# only_named, said, test, document, crowd, epoch_young
FILE = (
    -1.376,
    0.949,
    0.868,
    0.289,
    -0.123,
    -0.187,
    0.178,
    0.001,
    0.026,
    0.357,
    -0.566,
    0.321,
    -0.69,
    -0.693,
    -2.164,
    0.361,
)
# bias, recent, fresh, often, failed, test, check, long, chained, commit, once_old
COMMAND = (-2.234, 0.391, 0.334, 1.164, -0.086, 1.094, 0.843, -3.53, 0.0, -1.184, -0.892)
# bias, recent, fresh, typed, seen, url, port, ticket, commit, environment, link
IDENTIFIER = (-5.298, 0.716, 0.825, 0.589, 0.375, -1.33, -0.02, 0.682, 0.786, -0.054, -0.064)
# typed_fast, typed_slow, seen_fast, seen_slow
SYMBOL = (0.16, 0.02, 0.032, 0.002)
VALUE = {"changed": 1.0, "read": 1.0, "named": 1.0, "commands": 1.0, "identifiers": 0.4}
