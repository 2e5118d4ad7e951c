"""The routes, by subject. Each answers for one caller, through a `Visit`, and keeps nothing."""
