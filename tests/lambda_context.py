"""Events and contexts as AWS documents them, for functions that are called as Lambda calls them."""

import json
from dataclasses import dataclass
from typing import Any

ACCOUNT, REGION = "123456789012", "eu-central-1"


@dataclass
class LambdaContext:
    """What Lambda gives beside the event."""

    function_name: str = "vitto-memory-dev"
    remaining_ms: int = 29_000
    aws_request_id: str = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
    function_version: str = "$LATEST"
    memory_limit_in_mb: int = 1024
    log_group_name: str = "/aws/lambda/vitto-memory-dev"
    log_stream_name: str = "2026/03/01/[$LATEST]58419525dade4d17a495dceeeed44708"
    identity: Any = None
    client_context: Any = None

    @property
    def invoked_function_arn(self) -> str:
        """The function's name in full."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """How long it may still run."""
        return self.remaining_ms


def scheduled_event(rule: str = "sweep") -> dict[str, Any]:
    """An event of EventBridge's scheduler."""
    return {
        "version": "0",
        "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": "2026-03-01T03:00:00Z",
        "region": REGION,
        "resources": [f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{rule}"],
        "detail": {},
    }


def sqs_event(**bodies: str) -> dict[str, Any]:
    """A batch of messages, by their ids."""
    return {
        "Records": [
            {
                "messageId": id_,
                "receiptHandle": f"AQEB-{id_}",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1772359200000",
                    "SenderId": ACCOUNT,
                    "ApproximateFirstReceiveTimestamp": "1772359200001",
                },
                "messageAttributes": {},
                "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:vitto-memory-work",
                "awsRegion": REGION,
            }
            for id_, body in bodies.items()
        ]
    }


def proxy_event(method: str, path: str, body: Any = None, *, resource: str = "", **headers: str) -> dict[str, Any]:
    """A request of API Gateway's REST API with Lambda proxy integration, every field that it documents in place."""
    sent = {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "Host": f"abcdef1234.execute-api.{REGION}.amazonaws.com",
        "User-Agent": "curl/8.5.0",
        "X-Amzn-Trace-Id": "Root=1-5e66d96f-7491f09xmpl79d18acf3d050",
        "X-Forwarded-For": "203.0.113.7, 198.51.100.9",
        "X-Forwarded-Port": "443",
        "X-Forwarded-Proto": "https",
        **headers,
    }
    return {
        "resource": resource or path,
        "path": path,
        "httpMethod": method,
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "resourceId": "2gxmpl",
            "resourcePath": resource or path,
            "httpMethod": method,
            "extendedRequestId": "JJbxmplHYosFVYQ=",
            "requestTime": "10/Mar/2026:00:03:59 +0000",
            "path": f"/v1{path}",
            "accountId": ACCOUNT,
            "protocol": "HTTP/1.1",
            "stage": "v1",
            "domainPrefix": "abcdef1234",
            "requestTimeEpoch": 1773100939000,
            "requestId": "77375676-xmpl-4b79-853a-f982474efe18",
            "identity": {
                "cognitoIdentityPoolId": None,
                "accountId": None,
                "cognitoIdentityId": None,
                "caller": None,
                "sourceIp": "203.0.113.7",
                "principalOrgId": None,
                "accessKey": None,
                "cognitoAuthenticationType": None,
                "cognitoAuthenticationProvider": None,
                "userArn": None,
                "userAgent": "curl/8.5.0",
                "user": None,
            },
            "domainName": f"abcdef1234.execute-api.{REGION}.amazonaws.com",
            "apiId": "abcdef1234",
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }
