"""What the user can choose: one table of names and defaults, and how a choice is found."""
