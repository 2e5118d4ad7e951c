"""The walkthroughs of docs/walkthroughs.md on the real client, with the team server running."""
