"""What the template makes of its parameters: nothing but the product by default, and each addition where it is asked for."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from chalicelib.settings import Settings
from tests.cloudformation import Stack
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging import extras
from vitto_tools.packaging.errors import PackageRefused

pytestmark = pytest.mark.timeout(400)  # the package is built once for all: with the machine to itself in half a minute
PUBLIC, PRIVATE = "0.0.0.0/0", ("PrivateSubnetOne", "PrivateSubnetTwo")
GIVEN = {"Network": "given", "SubnetIds": "subnet-a,subnet-b", "SecurityGroupIds": "sg-a,sg-b"}


def types(stack: Stack, *services: str) -> set[str]:
    """The resources of these services, by type."""
    return {one["Type"] for one in stack.resources.values() if one["Type"].split("::")[1] in services}


def functions(sam: dict[str, Any]) -> list[str]:
    """Every function by its name in the template."""
    return [name for name, one in sam["Resources"].items() if one["Type"] == "AWS::Serverless::Function"]


def attached(stack: Stack, handler: str) -> list[str]:
    """The managed policies of a function's role."""
    role = stack.properties(handler)["Role"].removeprefix("${").removesuffix(".Arn}")
    return list(stack.properties(role).get("ManagedPolicyArns", []))


def test_by_default_there_is_no_network_no_cache_and_nothing_that_an_account_has_once(sam: dict[str, Any]) -> None:
    stack = Stack(sam)
    assert types(stack, "EC2", "ElastiCache") == set()
    assert types(stack, "ApiGateway") == set()
    assert stack.refused == []
    for name in functions(sam):
        assert "VpcConfig" not in stack.properties(name)
        assert attached(stack, name) == []
    assert "AccessLogSetting" not in stack.properties("RestAPI")
    assert "ReservedConcurrentExecutions" not in stack.properties("APIHandler")


def test_every_parameter_but_the_secrets_name_may_be_left_out(sam: dict[str, Any]) -> None:
    assert [name for name, said in sam["Parameters"].items() if "Default" not in said] == []
    assert [name for name, said in sam["Parameters"].items() if not said.get("Description")] == []


def test_in_a_network_every_function_may_have_its_interface_and_nothing_more(sam: dict[str, Any]) -> None:
    stack = Stack(sam, **GIVEN)
    assert len(functions(sam)) > 1
    for name in functions(sam):
        assert stack.properties(name)["VpcConfig"] == {
            "SubnetIds": ["subnet-a", "subnet-b"],
            "SecurityGroupIds": ["sg-a", "sg-b"],
        }
        policies = [policy.partition(":policy/")[2] for policy in attached(stack, name)]
        assert policies == ["service-role/AWSLambdaENIManagementAccess"], name
    assert types(stack, "EC2") == set()


def test_in_a_network_of_the_stack_nothing_comes_in_and_nat_leads_out(sam: dict[str, Any]) -> None:
    stack = Stack(sam, Network="made")
    config = stack.properties("APIHandler")["VpcConfig"]
    assert config == {"SubnetIds": [f"${{{name}}}" for name in PRIVATE], "SecurityGroupIds": ["${FunctionsSecurity}"]}
    routes = [one["Properties"] for one in stack.resources.values() if one["Type"] == "AWS::EC2::Route"]
    leading = {one["RouteTableId"]: one.get("NatGatewayId") or one["GatewayId"] for one in routes}
    assert leading == {"${PrivateRoutes}": "${Nat}", "${PublicRoutes}": "${InternetGateway}"}
    assert stack.properties("PrivateRoutesOne")["RouteTableId"] == "${PrivateRoutes}"
    assert stack.properties("PrivateRoutesTwo")["RouteTableId"] == "${PrivateRoutes}"
    assert "SecurityGroupIngress" not in stack.properties("FunctionsSecurity")
    assert "AWS::EC2::VPCEndpoint" not in types(stack, "EC2")
    assert stack.outputs["NetworkAddress"]["Value"] == "${NatAddress}"


@pytest.mark.parametrize(("store", "service"), [("secretsmanager", "secretsmanager"), ("parameterstore", "ssm")])
def test_without_nat_what_the_functions_call_has_an_endpoint(sam: dict[str, Any], store: str, service: str) -> None:
    stack = Stack(sam, Network="made", Egress="endpoints", SecretStore=store)
    endpoints = [one["Properties"] for one in stack.resources.values() if one["Type"] == "AWS::EC2::VPCEndpoint"]
    assert {one["ServiceName"].rpartition(".")[2] for one in endpoints} == {"sqs", service}
    assert all(one["PrivateDnsEnabled"] and one["SecurityGroupIds"] == ["${EndpointsSecurity}"] for one in endpoints)
    assert types(stack, "EC2") & {"AWS::EC2::NatGateway", "AWS::EC2::InternetGateway", "AWS::EC2::Route"} == set()


@pytest.mark.parametrize("network", [{"Network": "made"}, GIVEN | {"VpcId": "vpc-a"}])
def test_valkey_of_the_stack_is_encrypted_holds_its_index_and_lets_the_functions_in_alone(
    sam: dict[str, Any], network: dict[str, str]
) -> None:
    stack = Stack(sam, Redis="made", **network)
    assert stack.refused == []
    group = stack.properties("RedisGroup")
    assert (group["Engine"], group["EngineVersion"]) == ("valkey", "8.2")  # the first with the search module
    assert (group["TransitEncryptionEnabled"], group["AtRestEncryptionEnabled"]) == (True, True)
    assert stack.properties("RedisParameters")["Properties"]["maxmemory-policy"] == "noeviction"
    (way_in,) = stack.properties("RedisSecurity")["SecurityGroupIngress"]
    inside = stack.properties("APIHandler")["VpcConfig"]
    assert way_in["SourceSecurityGroupId"] == inside["SecurityGroupIds"][0]
    assert stack.properties("RedisSubnets")["SubnetIds"] == inside["SubnetIds"]
    for name in functions(sam):
        url = stack.properties(name)["Environment"]["Variables"]["VITTO_REDIS_URL"]
        assert url == "rediss://${RedisGroup.PrimaryEndPoint.Address}:${RedisGroup.PrimaryEndPoint.Port}/0"


def test_a_second_node_takes_over_and_one_alone_cannot(sam: dict[str, Any]) -> None:
    for nodes, takes_over in (("1", False), ("2", True)):
        group = Stack(sam, Redis="made", Network="made", RedisNodes=nodes).properties("RedisGroup")
        assert (group["AutomaticFailoverEnabled"], group["MultiAZEnabled"]) == (takes_over, takes_over)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"Redis": "made"}, "Redis=made needs a network"),
        ({"Redis": "made", **GIVEN}, "VpcId"),
        ({"Network": "given", "SecurityGroupIds": "sg-a"}, "SubnetIds"),
        ({"Network": "given", "SubnetIds": "subnet-a"}, "SecurityGroupIds"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused_by_name(
    sam: dict[str, Any], parameters: dict[str, str], named: str
) -> None:
    (reason,) = Stack(sam, **parameters).refused
    assert named in reason


def test_without_redis_none_is_looked_for(sam: dict[str, Any]) -> None:
    variables = Stack(sam, Redis="none").properties("APIHandler")["Environment"]["Variables"]
    assert variables["VITTO_REDIS_URL"] == ""


def test_secrets_in_parameter_store_are_read_there_and_only_there(sam: dict[str, Any]) -> None:
    given = {"LanguageModel": "small", "DocsUrl": "https://docs.test"}
    stack = Stack(sam, SecretStore="parameterstore", Secret="vitto/prod", **given)
    for name in functions(sam):
        variables = stack.properties(name)["Environment"]["Variables"]
        references = {variables[variable] for variable in Settings.secret_variables()}
        assert references == {
            f"ssm:/vitto/prod/{key}" for key in ("mongoUri", "redisUrl", "embeddingApiKey", "llmApiKey", "docsToken")
        }
        role = stack.properties(name)["Role"].removeprefix("${").removesuffix(".Arn}")
        (policy,) = stack.properties(role)["Policies"]
        (read,) = [one for one in policy["PolicyDocument"]["Statement"] if one["Sid"] == "ReadSecret"]
        assert read["Action"] == ["ssm:GetParameter"]
        assert read["Resource"].endswith(":parameter/vitto/prod/*")


def test_the_gateway_lets_through_so_many_and_a_function_may_have_its_runs_reserved(sam: dict[str, Any]) -> None:
    stack = Stack(sam, RequestsPerSecond="7", RequestsBurst="9", ApiConcurrency="5", RetryConcurrency="0")
    (method,) = stack.properties("RestAPI")["MethodSettings"]
    assert (method["ResourcePath"], method["HttpMethod"]) == ("/*", "*")
    assert (method["ThrottlingRateLimit"], method["ThrottlingBurstLimit"]) == ("7", "9")
    assert stack.properties("APIHandler")["ReservedConcurrentExecutions"] == "5"
    assert "ReservedConcurrentExecutions" not in stack.properties("RetryPending")
    assert Stack(sam).properties("RetryPending")["ReservedConcurrentExecutions"] == "1"


def test_access_logs_are_json_leave_in_time_and_tell_nothing_of_who_asked_what(sam: dict[str, Any]) -> None:
    stack = Stack(sam, AccessLogs="on")
    setting = stack.properties("RestAPI")["AccessLogSetting"]
    assert setting["DestinationArn"] == "${AccessLog.Arn}"
    assert stack.properties("AccessLog")["RetentionInDays"] == 30
    told = json.loads(setting["Format"])
    assert {"requestId", "time", "route", "status", "latencyMs"} <= told.keys()
    private = ("$context.path", "$context.identity", "$context.authorizer", "$context.requestOverride")
    assert [value for value in told.values() if value.startswith(private)] == []
    assert types(stack, "ApiGateway") == set()
    assert types(Stack(sam, AccessLogs="on-with-role"), "ApiGateway") == {"AWS::ApiGateway::Account"}


def test_two_stacks_of_an_account_share_no_name_and_no_metric(sam: dict[str, Any]) -> None:
    stack = Stack(sam, AccessLogs="on")
    assert stack.properties("RestAPI")["DefinitionBody"]["info"]["title"] == "${AWS::StackName}"
    for named in (stack.properties("AccessLog")["LogGroupName"], stack.properties("Dashboard")["DashboardName"]):
        assert "${AWS::StackName}" in named


def test_every_parameter_is_in_the_docs(sam: dict[str, Any]) -> None:
    told = (ROOT / "docs" / "operations.md").read_text()
    assert [name for name in sam["Parameters"] if f"| `{name}` |" not in told] == []


def test_parts_that_contradict_each_other_refuse_the_build(tmp_path: Path) -> None:
    for name in (*extras.PARTS, "dashboard.json"):
        (tmp_path / name).write_text((ROOT / "infra" / name).read_text())
    other = json.loads((tmp_path / "redis.json").read_text())
    other["Conditions"] = copy.deepcopy(other["Conditions"]) | {"InNetwork": {"Fn::Equals": ["a", "a"]}}
    (tmp_path / "redis.json").write_text(json.dumps(other))
    with pytest.raises(PackageRefused, match=r"redis.json: Conditions.InNetwork"):
        extras.merged(tmp_path)
