"""The real and the in-memory ends of every port. Only bootstrap builds them."""
