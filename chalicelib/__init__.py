"""Vitto Memory: the memory behind assistants and coding agents. `ports` is the table of contents."""
