"""Generates samples of a shop: the slow log of a real MariaDB and the spans of the calling application.

An hour of the shop, by the server's own clock, which is moved: customers look at their orders, at one order
(which asks for each of its products by itself), search products, buy; somebody makes a report. After 36
minutes the index by which the orders of a customer are found is dropped. The log is
samples/mariadb-10.11.19.shop.slow.log, the spans are samples/shop.spans.jsonl, a message of the encoding
otlp_json on each line.

    python -m e2e.sample_shop        as root, with the development environment
"""

import os
import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pymysql
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, SpanKind, format_span_id, format_trace_id, set_span_in_context

from e2e.attack_day.mariadb import Installation, Server
from e2e.otlp import as_json
from tailrace.demo import feed as demo_feed

PORT = int(os.environ.get("E2E_FIRST_PORT", "21130")) + 40
START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
REQUESTS = 330
SECONDS_BETWEEN = 3600 / REQUESTS
INDEX_DROPPED_AFTER = 0.6
CUSTOMERS, PRODUCTS, ORDERS, ITEMS_OF_ORDER = 1_000, 800, 20_000, 6
SEED = 20261121

PLACES = {
    rb"^\S+/mariadbd, ": b"/usr/sbin/mariadbd, ",
    rb"Tcp port: \d+  Unix socket: \S+": b"Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock",
}
"""The host name in the header of the log, instead of that of the machine that generated the sample."""

SCHEMA = (
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE shop.customers (id INT PRIMARY KEY, email VARCHAR(80), name VARCHAR(80))",
    "CREATE TABLE shop.products (id INT PRIMARY KEY, name VARCHAR(80), price DECIMAL(8, 2))",
    "CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, customer_id INT, created_at DATETIME, "
    "status VARCHAR(12), total DECIMAL(10, 2), note VARCHAR(120), KEY by_customer (customer_id))",
    "CREATE TABLE shop.order_items (order_id INT, product_id INT, quantity INT, "
    "PRIMARY KEY (order_id, product_id))",
    f"INSERT INTO shop.customers SELECT seq, CONCAT('customer', seq, '@example.org'), CONCAT('Name ', seq) "
    f"FROM seq_1_to_{CUSTOMERS}",
    f"INSERT INTO shop.products SELECT seq, CONCAT('Product ', seq, ' of kind ', seq % 40), 5 + seq % 90 "
    f"FROM seq_1_to_{PRODUCTS}",
    f"INSERT INTO shop.orders SELECT seq, 1 + seq % {CUSTOMERS}, '2026-11-01' + INTERVAL seq MINUTE, "
    f"ELT(1 + seq % 3, 'open', 'paid', 'sent'), 10 + seq % 200, REPEAT('x', 80) FROM seq_1_to_{ORDERS}",
    f"INSERT IGNORE INTO shop.order_items SELECT 1 + seq % {ORDERS}, "
    f"1 + (seq DIV {ORDERS} * 131 + seq * 7) % {PRODUCTS}, 1 + seq % 3 "
    f"FROM seq_1_to_{ORDERS * ITEMS_OF_ORDER}",
    "ANALYZE TABLE shop.customers, shop.products, shop.orders, shop.order_items",
    "CREATE USER shop_web@localhost",
    "GRANT SELECT, INSERT, UPDATE ON shop.* TO shop_web@localhost",
)

ORDERS_OF_CUSTOMER = (
    "SELECT id, created_at, status, total FROM orders WHERE customer_id = %s "
    "ORDER BY created_at DESC LIMIT 20"
)
ORDER = "SELECT id, customer_id, created_at, status, total, note FROM orders WHERE id = %s"
ITEMS = "SELECT product_id, quantity FROM order_items WHERE order_id = %s"
PRODUCT = "SELECT name, price FROM products WHERE id = %s"
SEARCH = "SELECT id, name, price FROM products WHERE name LIKE %s ORDER BY price LIMIT 20"
BEST_SELLERS = (
    "SELECT p.id, p.name, SUM(i.quantity) AS sold FROM order_items i JOIN orders o ON o.id = i.order_id "
    "JOIN products p ON p.id = i.product_id WHERE o.created_at > %s GROUP BY p.id, p.name "
    "ORDER BY sold DESC LIMIT 10"
)
BUY = "INSERT INTO orders (customer_id, created_at, status, total) VALUES (%s, NOW(), 'open', %s)"
BUY_ITEM = "INSERT INTO order_items (order_id, product_id, quantity) VALUES (%s, %s, %s)"


class Shop:
    """The application: a request is a trace; each of its statements is a span and has a comment with its
    id."""

    def __init__(self, server: Server, session: pymysql.Connection) -> None:
        self._server = server
        self._session = session
        self._random = random.Random(SEED)
        self._finished = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": "shop-web", "service.version": "3.2.0"}))
        provider.add_span_processor(SimpleSpanProcessor(self._finished))
        self._tracer = provider.get_tracer("opentelemetry.instrumentation.pymysql", "0.60b1")
        self._pages = (
            (0.46, "GET", "/customers/{id}/orders", self._orders_of_customer),
            (0.10, "GET", "/orders/{id}", self._order),
            (0.22, "GET", "/products", self._search),
            (0.12, "GET", "/reports/best-sellers", self._best_sellers),
            (0.10, "POST", "/orders", self._buy),
        )

    def request(self) -> bytes:
        """Serves one request; returns its spans as a message."""
        _, method, route, page = self._random.choices(self._pages, [page[0] for page in self._pages])[0]
        attributes = {"http.request.method": method, "http.route": route, "http.response.status_code": 200}
        with self._span(None, f"{method} {route}", SpanKind.SERVER, attributes) as request:
            page(request, route)
        message = as_json(encode_spans(self._finished.get_finished_spans()))
        self._finished.clear()
        return message

    @contextmanager
    def _span(self, parent: Span | None, name: str, kind: SpanKind, attributes: dict) -> Iterator[Span]:
        context = set_span_in_context(parent) if parent else None
        span = self._tracer.start_span(name, context, kind, attributes, start_time=self._now())
        try:
            yield span
        finally:
            span.end(self._now())

    def _now(self) -> int:
        """Returns the server's time, in nanoseconds since 1970 UTC."""
        return int(self._server.clock.now().timestamp() * 1e6) * 1000

    def _run(self, request: Span, route: str, statement: str, *values: object) -> list[tuple]:
        attributes = {"db.system.name": "mariadb", "db.namespace": "shop", "db.query.text": statement}
        verb = statement.partition(" ")[0]
        with self._span(request, f"{verb} shop", SpanKind.CLIENT, attributes) as span:
            context = span.get_span_context()
            parent = f"00-{format_trace_id(context.trace_id)}-{format_span_id(context.span_id)}-01"
            escaped = route.replace("/", "%%2F").replace("{", "%%7B").replace("}", "%%7D")
            comment = f"/*application='shop-web',route='{escaped}',traceparent='{parent}'*/"
            with self._session.cursor() as cursor:
                cursor.execute(f"{statement} {comment}", values)
                return [(cursor.lastrowid,)] if cursor.description is None else list(cursor.fetchall())

    def _orders_of_customer(self, request: Span, route: str) -> None:
        self._run(request, route, ORDERS_OF_CUSTOMER, self._random.randint(1, CUSTOMERS))

    def _order(self, request: Span, route: str) -> None:
        order = self._random.randint(1, ORDERS)
        self._run(request, route, ORDER, order)
        for product, _ in self._run(request, route, ITEMS, order):
            self._run(request, route, PRODUCT, product)

    def _search(self, request: Span, route: str) -> None:
        self._run(request, route, SEARCH, f"%kind {self._random.randint(1, 40)}%")

    def _best_sellers(self, request: Span, route: str) -> None:
        self._run(request, route, BEST_SELLERS, f"2026-11-{self._random.randint(2, 10):02}")

    def _buy(self, request: Span, route: str) -> None:
        customer = self._random.randint(1, CUSTOMERS)
        ((order,),) = self._run(request, route, BUY, customer, self._random.randint(10, 200))
        for product in self._random.sample(range(1, PRODUCTS), 2):
            self._run(request, route, BUY_ITEM, order, product, 1)


def main() -> None:
    installation = Installation.install(
        Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    )
    with tempfile.TemporaryDirectory() as directory:
        server = Server(installation, Path(directory), START, port=PORT, bind="127.0.0.1")
        server.create()
        server.start("--log-slow-verbosity=query_plan,explain", "--slow-query-log=0")
        try:
            messages = _hour(server)
        finally:
            server.stop()
        log = (server.logs / "slow.log").read_bytes()
    for here, usual in PLACES.items():
        log = re.sub(here, usual, log, count=1)
    (demo_feed.SAMPLES / demo_feed.SHOP_LOG).write_bytes(log)
    (demo_feed.SAMPLES / demo_feed.SHOP_SPANS).write_bytes(b"\n".join(messages) + b"\n")


def _hour(server: Server) -> list[bytes]:
    administrator = pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True)
    with administrator, administrator.cursor() as cursor:
        for statement in SCHEMA:
            cursor.execute(statement)
        cursor.execute("SET GLOBAL slow_query_log = 1")
        cursor.execute("SET SESSION slow_query_log = 1")
        web = pymysql.connect(
            unix_socket=str(server.socket), user="shop_web", database="shop", autocommit=True
        )
        with web:
            shop = Shop(server, web)
            messages = []
            for number in range(REQUESTS):
                server.clock.set(START + timedelta(seconds=60 + number * SECONDS_BETWEEN))
                if number == int(REQUESTS * INDEX_DROPPED_AFTER):
                    cursor.execute("ALTER TABLE shop.orders DROP INDEX by_customer")
                messages.append(shop.request())
        return messages


if __name__ == "__main__":
    main()
