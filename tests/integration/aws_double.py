"""AWS on loopback: moto, and what moto lacks. It translates SAM templates, which AWS does before it makes a stack, runs a
function in a process with the package, and is the gateway before the API."""

import contextlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from moto.cloudformation.parsing import get_model_map
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

import app
from tests.cloudformation import Stack
from tests.integration.lambda_runtime import Runtime
from tests.lambda_context import proxy_event
from tests.sqs_server import HOST, REGION

Object = dict[str, Any]
Start = Callable[..., Any]
_INVOKED = re.compile(r"^/2015-03-31/functions/([^/]+)/invocations$")
_PARAMETER = re.compile(r"\{(\w+)\}")


class Translator:
    """AWS's own translation, by its own library, which has an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, template: Object) -> Object:
        """The template without SAM."""
        done = subprocess.run(
            (sys.executable, "-S", "-P", str(Path(__file__).with_name("sam_translate.py"))),
            env={"PYTHONPATH": str(self._folder), "AWS_DEFAULT_REGION": REGION},
            input=json.dumps(template),
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.returncode, done.stderr
        made: Object = json.loads(done.stdout)
        return made


class AwsDouble:
    """A WSGI application. `runtime` runs functions; `invocations` is what they were given. `s3` is a client of its own."""

    def __init__(self, translate: Translator, runtime: Runtime) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()  # what moto does is not atomic
        self._translate = translate
        self.runtime = runtime
        self.invocations: list[tuple[str, Object]] = []
        self.s3: Any = None

    def __call__(self, environ: Object, start: Start) -> Iterable[bytes]:
        """Answer a request."""
        invoked = _INVOKED.match(unquote(environ["PATH_INFO"]))
        if invoked:
            return self._invoke(Request(environ), invoked[1])(environ, start)
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"] == "/":
            self._transform(environ)
        with self._lock:
            return list(self._moto(environ, start))

    def _transform(self, environ: Object) -> None:
        """Where a change set is asked for, put the translation of its template in the template's place."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        if fields.get("Action") == "CreateChangeSet":
            bucket, key = _place(fields.pop("TemplateURL"))
            template = json.loads(self.s3.get_object(Bucket=bucket, Key=key)["Body"].read())
            fields["TemplateBody"] = json.dumps(_for_moto(self._translate(template), _parameters(fields)))
            body = urlencode(fields).encode()
        environ["wsgi.input"], environ["CONTENT_LENGTH"] = BytesIO(body), str(len(body))

    def _invoke(self, request: Request, name: str) -> Response:
        event = json.loads(request.get_data())
        self.invocations.append((name, event))
        answer = self.runtime.call("app.admin", event, remaining_ms=900_000)
        if "failed" in answer:
            told = {"errorType": answer["failed"], "errorMessage": answer["message"]}
            return Response(json.dumps(told), headers={"X-Amz-Function-Error": "Unhandled"})
        return Response(json.dumps(answer["given"]))


class Gateway:
    """A REST API with proxy integration before `app.app`: a WSGI application."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()  # one function answers one request at a time
        plain_first = sorted(app.app.routes, key=lambda route: route.count("{"))
        self._routes = [(re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", one) + "$"), one) for one in plain_first]

    def __call__(self, environ: Object, start: Start) -> Iterable[bytes]:
        """Answer a request."""
        request = Request(environ)
        event = self._event(request)
        with self._lock:
            given = self._runtime.given("app.app", event)
        return Response(given["body"], given["statusCode"], given["headers"])(environ, start)

    def _event(self, request: Request) -> Object:
        found = next(((match, route) for rule, route in self._routes if (match := rule.match(request.path))), None)
        assert found, request.path
        match, route = found
        event = proxy_event(request.method, request.path, resource=route, **dict(request.headers))
        query = dict(request.args)
        return event | {
            "body": request.get_data(as_text=True) or None,
            "pathParameters": match.groupdict() or None,
            "queryStringParameters": query or None,
            "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        }


def _parameters(fields: Object) -> dict[str, str]:
    """The parameters that a request gives; one that keeps its value has its default here."""
    found = {}
    for name, key in fields.items():
        if name.endswith(".ParameterKey") and (value := fields.get(f"{name.removesuffix('Key')}Value")) is not None:
            found[key] = value
    return found


def _for_moto(template: Object, parameters: dict[str, str]) -> Object:
    """What moto can make of it: it lacks some types, stumbles over what a condition leaves out, and reads no API's
    definition, so it looks for the name beside it and takes it for one without methods, which it refuses to deploy. The
    gateway is played by `Gateway`."""
    there = Stack(template, **parameters).resources
    for name, one in list(template["Resources"].items()):
        if name not in there:
            del template["Resources"][name]
            continue
        if one["Type"] == "AWS::ApiGateway::RestApi":
            one["Properties"].setdefault("Name", one["Properties"]["Body"]["info"]["title"])
        elif one["Type"] not in get_model_map() or one["Type"] == "AWS::ApiGateway::Deployment":
            del template["Resources"][name]
    return template


def _place(url: str) -> tuple[str, str]:
    """The bucket and the key of an object's address."""
    parts = urlsplit(url)
    return parts.netloc.partition(".")[0], parts.path.removeprefix("/")


class _Silent(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def served(application: Any) -> Iterator[str]:
    """The address of an application that is served on loopback."""
    server = make_server(HOST, 0, application, threaded=True, request_handler=_Silent)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        with contextlib.suppress(OSError):
            server.server_close()
