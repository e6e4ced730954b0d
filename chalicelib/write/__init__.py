"""The write path: what enters, changes and leaves the memory, each with a receipt that is true."""
