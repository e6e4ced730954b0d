"""Benchmarks on real data and real servers; `scripts/bench` runs them. Not deployed."""
