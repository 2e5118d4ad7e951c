"""The routes, by subject. Each answers one caller through a `RequestContext` and keeps nothing."""
