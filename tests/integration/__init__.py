"""Services over real stores."""
