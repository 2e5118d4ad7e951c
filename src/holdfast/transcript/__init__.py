"""Bytes to rows: reading a client's transcript from where the last pass ended."""

# What other packages may import.
__all__ = ["file_chain", "reader", "row_list"]
