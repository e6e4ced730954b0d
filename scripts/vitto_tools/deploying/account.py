"""The AWS account, region and credentials that a command acts with, as boto3 finds them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vitto_tools.deploying.errors import DeployFailed

STACK = "vitto-memory-{stage}"
_READ_SECONDS = 60


@contextmanager
def told() -> Iterator[None]:
    """What AWS or the way to it refuses is a DeployFailed with what was said."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - commands that need no AWS start without

    try:
        yield
    except ClientError as error:
        said = error.response.get("Error", {})
        raise DeployFailed(f"{error.operation_name}: {said.get('Code')}: {said.get('Message')}") from error
    except BotoCoreError as error:
        raise DeployFailed(f"AWS cannot be asked: {error}") from error


@dataclass(frozen=True)
class Account:
    """Who acts, where. `arn` is the caller's."""

    session: Any
    id: str
    arn: str
    region: str

    @classmethod
    def here(cls, region: str | None = None) -> "Account":
        """The account of the credentials at hand. DeployFailed where there are none, or no region is named."""
        from boto3.session import Session  # noqa: PLC0415 - see `told`

        session = Session(region_name=region or os.environ.get("AWS_REGION"))  # which boto3 does not read
        if not session.region_name:
            raise DeployFailed("no region is named: give --region, or set AWS_REGION or AWS_DEFAULT_REGION")
        with told():
            said = session.client("sts").get_caller_identity()
        return cls(session, str(said["Account"]), str(said["Arn"]), str(session.region_name))

    @property
    def suffix(self) -> str:
        """The end of the names of this partition's servers."""
        return "amazonaws.com.cn" if self.region.startswith("cn-") else "amazonaws.com"

    @cached_property
    def cloudformation(self) -> Any:
        """Its client."""
        return self.session.client("cloudformation")

    @cached_property
    def s3(self) -> Any:
        """Its client."""
        return self.session.client("s3")

    @cached_property
    def secrets(self) -> Any:
        """Its client."""
        return self.session.client("secretsmanager")

    def functions(self, seconds: float) -> Any:
        """A client of Lambda that waits for an answer so long, and asks once: a repeat would run the function again."""
        from botocore.config import Config  # noqa: PLC0415 - see `told`

        patient = Config(read_timeout=seconds + _READ_SECONDS, retries={"total_max_attempts": 1}, tcp_keepalive=True)
        return self.session.client("lambda", config=patient)
