"""Lets client libraries of Python fail against failing_server.py: one JSON line for each case, with the type, the message
and the traceback that an uncaught exception would print. Ports and addresses of objects are masked.

    raise_python.py '{"http": 1234, "closed": 1235, …}' [CASE]      with CASE the exception is not caught
"""
import asyncio
import json
import re
import sys
import traceback

ports = json.loads(sys.argv[1])
HTTP = "http://127.0.0.1:%d" % ports["http"]
CLOSED = "http://127.0.0.1:%d" % ports["closed"]
WAIT = 0.3  # where the server says nothing; elsewhere a loaded machine may take its time
cases = {}


def case(name):
    def keep(function):
        cases[name] = function
        return function
    return keep


def wait(where):
    return WAIT if where in ("slow", "silent") else 30


def at(where):
    return CLOSED if where == "closed" else f"{HTTP}/{where}"


# ---- HTTP ----

def requests_(where):
    import requests
    requests.post(at(where), timeout=wait(where)).raise_for_status()


def httpx_(where):
    import httpx
    httpx.post(at(where), timeout=wait(where)).raise_for_status()


def urllib3_(where):
    import urllib3
    answer = urllib3.PoolManager(retries=False).request("POST", at(where), timeout=wait(where))
    assert answer.status < 0


def urllib_(where):
    import urllib.request
    urllib.request.urlopen(at(where), timeout=wait(where))


def aiohttp_(where):
    import aiohttp

    async def ask():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=wait(where))) as session:
            async with session.post(at(where)) as answer:
                answer.raise_for_status()
    asyncio.run(ask())


def openai_(where):
    import openai
    client = openai.OpenAI(api_key="k", base_url=at(where), timeout=wait(where), max_retries=0)
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])


def anthropic_(where):
    import anthropic
    client = anthropic.Anthropic(api_key="k", base_url=at(where), timeout=wait(where), max_retries=0)
    client.messages.create(model="m", max_tokens=10, messages=[{"role": "user", "content": "hello"}])


def dynamodb(where):
    import botocore.config
    import botocore.session
    config = botocore.config.Config(retries={"total_max_attempts": 1}, read_timeout=wait(where), connect_timeout=30)
    client = botocore.session.get_session().create_client(
        "dynamodb", region_name="eu-west-1", endpoint_url=at(where), aws_access_key_id="k", aws_secret_access_key="s",
        config=config)
    client.list_tables()


STATUSES = ["429", "503", "500", "401", "400"]
for library, function, wheres in (
        ("requests", requests_, ["closed", "slow", *STATUSES, "404"]),
        ("httpx", httpx_, ["closed", "slow", *STATUSES]),
        ("urllib3", urllib3_, ["closed", "slow"]),
        ("urllib", urllib_, ["closed", "slow", *STATUSES]),
        ("aiohttp", aiohttp_, ["closed", "slow", *STATUSES]),
        ("openai", openai_, ["closed", "slow", *STATUSES, "403", "404", "422"]),
        ("anthropic", anthropic_, ["closed", "slow", *STATUSES, "529"]),
        ("botocore", dynamodb, ["closed", "slow", *STATUSES, "403"])):
    for where in wheres:
        cases[f"{library} {where}"] = lambda function=function, where=where: function(where)


@case("requests dns")
def requests_dns():
    import requests
    requests.get("http://nobody.invalid/", timeout=30)


@case("botocore credentials")
def no_credentials():
    import os

    import botocore.session
    os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_SHARED_CREDENTIALS_FILE="/nonexistent",
                      AWS_CONFIG_FILE="/nonexistent")
    botocore.session.get_session().create_client("dynamodb", region_name="eu-west-1", endpoint_url=HTTP).list_tables()


# ---- databases ----

def dsn(name):
    return f"host=127.0.0.1 port={ports[name]} user=worker password=p dbname=d connect_timeout=2 sslmode=disable"


def psycopg2_(name):
    import psycopg2
    psycopg2.connect(dsn(name))


def psycopg_(name):
    import psycopg
    psycopg.connect(dsn(name))


def sqlalchemy_(name):
    import sqlalchemy
    url = f"postgresql+psycopg2://worker:p@127.0.0.1:{ports[name]}/d?connect_timeout=2&sslmode=disable"
    sqlalchemy.create_engine(url).connect()


for library, function in (("psycopg2", psycopg2_), ("psycopg", psycopg_), ("sqlalchemy", sqlalchemy_)):
    for name in ("closed", "pg_auth", "pg_starting", "pg_full"):
        cases[f"{library} {name}"] = lambda function=function, name=name: function(name)


def sqlite(statement, alchemy=False):
    import sqlite3
    if alchemy:
        import sqlalchemy
        with sqlalchemy.create_engine("sqlite://").connect() as connection:
            connection.execute(sqlalchemy.text(statement))
    sqlite3.connect(":memory:").execute(statement)


@case("sqlite no table")
def sqlite_no_table():
    sqlite("select * from orders")


@case("sqlite syntax")
def sqlite_syntax():
    sqlite("selct 1")


@case("sqlalchemy no table")
def alchemy_no_table():
    sqlite("select * from orders", alchemy=True)


@case("sqlalchemy integrity")
def alchemy_integrity():
    import sqlalchemy
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.execute(sqlalchemy.text("create table t (id integer primary key)"))
        for _ in range(2):
            connection.execute(sqlalchemy.text("insert into t values (1)"))


@case("sqlite locked")
def sqlite_locked():
    import os
    import sqlite3
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db")
        one, two = sqlite3.connect(path), sqlite3.connect(path, timeout=0)
        one.execute("create table t (x)")
        one.execute("begin exclusive")
        two.execute("insert into t values (1)")


def redis_(name):
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
    redis.Redis(port=ports[name], password="p" if name == "redis_auth" else None, socket_timeout=wait(name),
                retry=Retry(NoBackoff(), 0)).get("k")


for name in ("closed", "silent", "redis_auth", "redis_loading"):
    cases[f"redis {name}"] = lambda name=name: redis_(name)


@case("pymongo closed")
def pymongo_():
    import pymongo
    pymongo.MongoClient("127.0.0.1", ports["closed"], serverSelectionTimeoutMS=300).admin.command("ping")


# ---- gRPC ----

def grpc_call(wrap, name):
    import grpc
    channel = grpc.insecure_channel(f"127.0.0.1:{ports[name]}")
    call = channel.unary_unary("/orders.Orders/Price", request_serializer=bytes, response_deserializer=bytes)
    if wrap:
        from google.api_core import grpc_helpers
        call = grpc_helpers.wrap_errors(call)
    call(b"", timeout=wait(name))


for name in ("closed", "silent"):
    cases[f"grpc {name}"] = lambda name=name: grpc_call(False, name)
    cases[f"google-api-core {name}"] = lambda name=name: grpc_call(True, name)


def google(status):
    from google.api_core import exceptions
    raise exceptions.from_http_status(status, "the server fails on purpose")


for status in (429, 503, 500, 401, 403, 400, 404, 504):
    cases[f"google-api-core {status}"] = lambda status=status: google(status)


# ---- the language ----

@case("socket refused")
def socket_refused():
    import socket
    socket.create_connection(("127.0.0.1", ports["closed"]))


@case("socket timeout")
def socket_timeout():
    import socket
    connection = socket.create_connection(("127.0.0.1", ports["silent"]))
    connection.settimeout(WAIT)
    connection.recv(1)


@case("asyncio timeout")
def asyncio_timeout():
    asyncio.run(asyncio.wait_for(asyncio.sleep(5), 0.01))


@case("json")
def bad_json():
    json.loads("{")


@case("pydantic")
def bad_model():
    import pydantic

    class Order(pydantic.BaseModel):
        quantity: int
    Order(quantity="503 Service Unavailable, connection reset")


@case("bug KeyError")
def key_error():
    return {}["pin_code"]


@case("bug AttributeError")
def attribute_error():
    return None.price


@case("bug NameError")
def name_error():
    return order_id  # noqa: F821


@case("bug ZeroDivisionError")
def zero_division():
    return 1 / 0


@case("bug ImportError")
def import_error():
    import a_module_that_nobody_has  # noqa: F401


@case("bug AssertionError")
def assertion():
    assert 1 == 2, "429"


@case("bug while handling a refused connection")
def chained_bug():
    try:
        socket_refused()
    except OSError as error:
        return {}[error.errno]


@case("bug with a refused connection as its cause")
def chained_cause():
    try:
        socket_refused()
    except OSError as error:
        raise ValueError("503 is no quantity") from error


@case("business error with a refused connection as its cause")
def chained_business():
    class OrderRejected(Exception):
        pass
    try:
        socket_refused()
    except OSError as error:
        raise OrderRejected("note: connection reset, 503, validation, deadlock") from error


@case("refused connection while handling a bug")
def chained_refused():
    try:
        key_error()
    except KeyError:
        socket_refused()


def masked(text):
    for name, port in ports.items():
        text = re.sub(rf"\b{port}\b", "PORT", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0xADDRESS", text)
    return text


def name_of(error):
    kind = type(error)
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"


def main():
    if len(sys.argv) > 2:
        cases[sys.argv[2]]()
        return
    for name, function in cases.items():
        try:
            function()
        except BaseException as error:
            print(json.dumps({"case": f"python {name}", "type": name_of(error), "message": masked(str(error)),
                              "trace": traceback.format_exc()}), flush=True)
        else:
            raise SystemExit(f"{name}: nothing was raised")


main()
