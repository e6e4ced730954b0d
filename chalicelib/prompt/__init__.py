"""The prompt: soul, knowledge and conversation in blocks, stable ones first, within a budget, for any provider."""
