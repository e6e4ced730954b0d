"""The nouns of the product and the pure rules over them: no clock, no store, no network."""
