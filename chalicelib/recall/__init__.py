"""The read path: a query and a reader's chain in, an explained answer out."""
