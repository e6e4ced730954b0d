"""Whether a memory is worth having: signals of its text and its scope, five factors, one verdict. No model is asked."""
