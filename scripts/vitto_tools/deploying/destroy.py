"""`scripts/destroy STAGE`: the stack goes, and what stays is named with the command that removes it."""

from vitto_tools.deploying.account import Account
from vitto_tools.deploying.preparing import Bucket
from vitto_tools.deploying.stack import Resource, Say, Stack

_REMOVED_BY = {
    "AWS::SQS::Queue": "aws sqs delete-queue --queue-url {id}",
    "AWS::Logs::LogGroup": "aws logs delete-log-group --log-group-name {id}",
    "AWS::S3::Bucket": "aws s3 rb --force s3://{id}",
    "AWS::KMS::Key": "aws kms schedule-key-deletion --key-id {id}",
}


def destroy(account: Account, stage: str, say: Say, bucket: str | None = None) -> list[str]:
    """Delete the stage's stack; what stays, line by line. Where there is none that is said, and nothing done."""
    stack = Stack(account, stage, say)
    if stack.described() is None:
        return [f"there is no {stack.name} in {account.region}"]
    kept = stack.retained()
    stack.delete()
    uploads = Bucket(account, bucket).name
    return [
        f"{stack.name} is gone. What stays:",
        *(f"  {one.name}: {_removed_by(one)}" for one in kept),
        f"  packages: aws s3 rm --recursive s3://{uploads}/{stage}/",
        "  the secret, and all data in MongoDB and Redis: they are not the stack's",
    ]


def _removed_by(resource: Resource) -> str:
    known = _REMOVED_BY.get(resource.type)
    return known.format(id=resource.id) if known else f"{resource.type} {resource.id}"
