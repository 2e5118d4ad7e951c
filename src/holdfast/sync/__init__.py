"""Between this machine's store and the team's service: what goes up, and messages both ways."""
