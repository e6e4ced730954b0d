"""Why a stage is not deployed, destroyed or reached."""


class DeployFailed(Exception):
    """What was found does not allow it, or AWS did not do it; the message says what, and what to do."""
