"""Secrets of every kind, planted wherever a session carries text, and looked for afterwards.

Owns: the kinds (`kinds`), the places (`places`), and the search through everything that was written
or handed over (`looking`). Made anew from a seed in each run; no token-shaped literal is stored.
"""
