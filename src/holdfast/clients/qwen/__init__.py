"""Qwen Code: chat files, and hooks nearly as Claude Code has them."""
