"""Redis, which holds what makes recall fast and can be rebuilt from MongoDB at any time."""
