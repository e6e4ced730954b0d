"""MongoDB, which holds the truth."""
