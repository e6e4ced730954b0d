"""Other systems' files as memories that the API takes. Pure: a file's text goes in, items and what was left out come out."""
