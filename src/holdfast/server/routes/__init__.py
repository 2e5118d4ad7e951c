"""The routes, by subject. Each answers one caller through a `ApiRequest` and keeps nothing."""
