"""Plugins: the hooks, what a plugin is shown and may give, and the manager that keeps a bad one from harming a request."""
