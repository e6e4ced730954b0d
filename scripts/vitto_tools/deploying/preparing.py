"""What has to be there before a stack is: parameters that the template knows, the secret with its keys, a bucket."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vitto_tools.deploying.account import Account, told
from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.evaluating import Evaluated

_STAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,48}[A-Za-z0-9])?")
_CREATED_EVERYWHERE_BUT = "us-east-1"  # S3's default region, which a bucket may not name


def refuse_odd_stage(stage: str) -> None:
    """DeployFailed for a name that no stack can carry."""
    if not _STAGE.fullmatch(stage):
        raise DeployFailed(f"stage {stage!r}: letters, digits and hyphens within, at most 50 of them")


def parameters_of(pairs: list[str], file: Path | None) -> dict[str, str]:
    """Parameters as a command takes them: a file with a JSON object of texts, and over it `Key=Value` each."""
    given: dict[str, str] = {}
    if file:
        try:
            held = json.loads(file.read_text())
        except (OSError, ValueError) as error:
            raise DeployFailed(f"{file}: {error}") from None
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            raise DeployFailed(f"{file}: a JSON object whose values are texts is wanted")
        given |= held
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise DeployFailed(f"--parameter {pair}: Key=Value is wanted")
        given[name] = value
    return given


def parameter_list(
    template: Mapping[str, Any], given: Mapping[str, str], before: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Parameters as CloudFormation takes them: what is not given stays as it was. DeployFailed names those that the template
    does not know, and those that it wants and nobody gave."""
    known = template.get("Parameters", {})
    if unknown := sorted(given.keys() - known.keys()):
        raise DeployFailed(f"the template has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    if missing := sorted(name for name in known if name not in {*given, *before} and "Default" not in known[name]):
        raise DeployFailed(f"the template wants --parameter {', '.join(f'{name}=…' for name in missing)}")
    chosen = [{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()]
    kept = [{"ParameterKey": name, "UsePreviousValue": True} for name in before if name in known.keys() - given.keys()]
    return chosen + kept


def check_secrets(account: Account, template: Mapping[str, Any], parameters: Mapping[str, str]) -> list[str]:
    """The secrets that the functions will read, each with the keys that they look for. DeployFailed where one, or a key of
    it, is not there."""
    wanted = Evaluated(template, parameters).secrets()
    return [_checked(account, secret, sorted(keys)) for secret, keys in sorted(wanted.items())]


def _checked(account: Account, secret: str, keys: list[str]) -> str:
    from botocore.exceptions import ClientError  # noqa: PLC0415 - commands that need no AWS start without

    example = json.dumps(dict.fromkeys(keys, "…"), ensure_ascii=False)
    try:
        with told():
            text = account.secrets.get_secret_value(SecretId=secret).get("SecretString", "")
    except DeployFailed as error:
        cause = error.__cause__
        if isinstance(cause, ClientError) and cause.response["Error"]["Code"] == "ResourceNotFoundException":
            made = f"aws secretsmanager create-secret --name {secret} --secret-string '{example}'"
            raise DeployFailed(f"there is no secret {secret} in {account.region}; make it:\n  {made}") from None
        raise
    try:
        held = json.loads(text)
    except ValueError:
        held = None
    if not isinstance(held, dict):
        raise DeployFailed(f"secret {secret}: a JSON object is wanted, such as {example}")
    if missing := [key for key in keys if not held.get(key)]:
        raise DeployFailed(f"secret {secret} lacks {', '.join(missing)}")
    return f"{secret} ({', '.join(keys)})"


class Bucket:
    """Where packages are uploaded to: private, encrypted, of this account."""

    def __init__(self, account: Account, name: str | None = None) -> None:
        self._account = account
        self.name = name or f"vitto-memory-{account.id}-{account.region}"

    def make(self) -> bool:
        """See that it is there; whether it was made now. DeployFailed where it is another account's."""
        s3, owned = self._account.s3, {"ExpectedBucketOwner": self._account.id}
        if self._is_there():
            return False
        region = self._account.region
        where = {"CreateBucketConfiguration": {"LocationConstraint": region}}
        with told():
            s3.create_bucket(Bucket=self.name, **({} if region == _CREATED_EVERYWHERE_BUT else where))
            closed = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
            s3.put_public_access_block(
                Bucket=self.name, PublicAccessBlockConfiguration=dict.fromkeys(closed, True), **owned
            )
            rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
            s3.put_bucket_encryption(Bucket=self.name, ServerSideEncryptionConfiguration={"Rules": [rule]}, **owned)
        return True

    def _is_there(self) -> bool:
        from botocore.exceptions import ClientError  # noqa: PLC0415 - see `_checked`

        try:
            self._account.s3.head_bucket(Bucket=self.name, ExpectedBucketOwner=self._account.id)
        except ClientError as error:
            if error.response["Error"]["Code"] in {"404", "NoSuchBucket"}:
                return False
            raise DeployFailed(
                f"bucket {self.name} is not this account's, or may not be used ({error.response['Error']['Code']});"
                " name another one by --bucket"
            ) from error
        return True

    def upload(self, content: bytes, folder: str, suffix: str) -> str:
        """Put content under its own digest, where it is not yet; its key."""
        key = f"{folder}/{hashlib.sha256(content).hexdigest()}{suffix}"
        owned = {"Bucket": self.name, "Key": key, "ExpectedBucketOwner": self._account.id}
        with told():
            if not self._account.s3.list_objects_v2(Bucket=self.name, Prefix=key).get("KeyCount"):
                self._account.s3.put_object(Body=content, ServerSideEncryption="AES256", **owned)
        return key

    def url(self, key: str) -> str:
        """Where CloudFormation finds it."""
        return f"https://{self.name}.s3.{self._account.region}.{self._account.suffix}/{key}"
