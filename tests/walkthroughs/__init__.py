"""The walkthroughs of docs/walkthroughs.md on the real client, with `holdfast serve` running."""
