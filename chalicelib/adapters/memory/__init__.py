"""In-memory twins of every port, held to the same contract suite as the real adapters."""
