"""Hooks in a settings file of the form that Claude Code gave it and other clients took over."""
