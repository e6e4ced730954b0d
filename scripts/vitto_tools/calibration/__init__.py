"""Calibration of embedding models: pairs of a question and a text, in several languages, and the curve fitted to them."""
