"""OpenAI's Codex CLI: rollout files, hooks, `hooks.json` and `config.toml`."""
