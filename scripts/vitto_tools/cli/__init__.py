"""The `vitto` command."""
