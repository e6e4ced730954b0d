"""Why a package is not built."""


class PackageRefused(Exception):
    """What was found may not be deployed, or could not be put together; the message says what to do."""
