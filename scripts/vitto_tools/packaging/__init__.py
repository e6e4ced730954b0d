"""The AWS package: a zip that Lambda runs, and the template of everything around it."""
