"""What a session says, kept within 800 tokens: the conversation genome, and the genome of a user across sessions."""
