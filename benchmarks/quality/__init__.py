"""Quality of the text that an agent is given: must-know, Said, Survival and truth, in one table.

    python -m benchmarks.quality --corpus DIR [--corpus DIR2] --gold DIR

A judge from outside. It runs the product as a command, in processes of its own, and reads
transcripts by itself; it must not import anything that it measures (tests/quality holds that).
"""
