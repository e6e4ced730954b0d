"""Other shapes of files than memories as the API takes them, each made into those by a module of its own."""
