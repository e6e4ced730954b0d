"""Prospective indexing: the questions that a later conversation may ask and a memory answers, written by the queue."""
