"""Pure rules and single parts, without a server."""
