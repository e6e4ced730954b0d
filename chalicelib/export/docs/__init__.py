"""Active memories as a tree of Markdown files, at a docs service or in a folder."""
