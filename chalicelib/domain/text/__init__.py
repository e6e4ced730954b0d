"""What a text is made of: cleaning, language, terms, secrets."""
