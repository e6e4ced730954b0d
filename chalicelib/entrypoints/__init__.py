"""How the world comes in: HTTP routes, the worker, jobs and the WSGI callable."""
