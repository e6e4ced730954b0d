"""Rows of before scopes, made into today's."""
