"""The product through its front doors."""
