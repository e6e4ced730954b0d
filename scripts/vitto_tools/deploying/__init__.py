"""Bringing the package into an AWS account, taking it away again, and reaching what is deployed."""
