"""Leaving: what an organization or a person takes along."""
