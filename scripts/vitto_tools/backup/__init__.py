"""A backup of MongoDB as one file, for where its own tools are not at hand, and the log of erasures that outlives it."""
