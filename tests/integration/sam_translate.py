"""What AWS does with a SAM template: read from standard input, and written as plain CloudFormation."""

import json
import sys

from samtranslator.translator.transform import transform  # type: ignore[import-not-found] # see scripts/lock


class _NoManagedPolicies:
    """The template names none of AWS's own policies."""

    def load(self) -> dict[str, str]:
        """None."""
        return {}


if __name__ == "__main__":
    json.dump(transform(json.load(sys.stdin), {}, _NoManagedPolicies()), sys.stdout)
