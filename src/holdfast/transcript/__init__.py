"""Bytes to rows: reading a client's transcript from where the last pass ended."""
