"""One suite a port, run against the twin and every real adapter."""
