"""Speed, as ratios measured in one run: each module has `run()`, which gives rows of a table."""
