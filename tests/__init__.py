"""Tests. Each names the behaviour that it protects; the first are about isolation."""
