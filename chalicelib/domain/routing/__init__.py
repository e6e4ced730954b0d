"""How a query is searched for: the routes, and what of a query decides between them, in any language."""
