"""Consolidation: what becomes of a new row beside those that are there: added, left out, merged, or put in place of one."""
