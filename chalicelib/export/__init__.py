"""Leaving: what an organization or a person takes along, and a person for good."""
