"""Holdfast keeps a coding agent's working state alive through context compaction."""

__version__ = "0.1.0"
