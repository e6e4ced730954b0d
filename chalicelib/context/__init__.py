"""Virtual context: what of a session stands in the prompt as it is, what is compressed, and what is called back."""
