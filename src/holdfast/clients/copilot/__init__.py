"""GitHub Copilot CLI: event files, and hooks in a file of their own."""
