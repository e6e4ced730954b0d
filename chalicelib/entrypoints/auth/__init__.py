"""Authentication: from the headers of a request to a verified caller. The same on every runtime, always on."""
