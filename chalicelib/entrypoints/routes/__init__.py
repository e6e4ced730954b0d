"""HTTP routes, one module a feature; each handler parses, calls one function and answers."""
