"""What may be logged of an unexpected error."""

_PLACES = 6


def trace(error: BaseException) -> str:
    """Where it went wrong, without its message and the values that were in hand, which may be a tenant's."""
    places = []
    step = error.__traceback__
    while step is not None:
        places.append(f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}")
        step = step.tb_next
    return f"{type(error).__name__} at {' < '.join(reversed(places[-_PLACES:]))}"
