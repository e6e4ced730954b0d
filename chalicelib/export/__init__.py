"""What leaves: the data of a person on request, and the person for good."""
