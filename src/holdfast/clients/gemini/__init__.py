"""Google's Gemini CLI: chat files, hooks, and the extension that carries them."""
