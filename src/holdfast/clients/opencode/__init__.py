"""OpenCode: everything that is particular to this client."""
