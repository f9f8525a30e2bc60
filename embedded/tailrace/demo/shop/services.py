"""The applications of the shop: which of their pages runs which statements, how often and from where."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tailrace.demo.shop import statements as sql
from tailrace.demo.shop.statements import Statement
from tailrace.demo.shop.times import DEPLOYED, INDEX_DROPPED, StoryTimes

OLD_VERSION = "4.2.0"
NEW_VERSION = "4.3.0"
PRODUCTS_PER_HISTORY = 24
HISTORY_ROUTE = "/account/history"

Step = tuple[Statement, tuple[object, ...]]
"""A statement and its values."""

Page = Callable[[Random, StoryTimes, float], list[Step]]
"""Returns the statements of one request at a time."""


@dataclass(frozen=True)
class Endpoint:
    """One kind of request of a service. `share` is its weight among all requests."""

    share: float
    method: str
    route: str
    page: Page


@dataclass(frozen=True)
class Service:
    """An application and its account on one server."""

    name: str
    instance: str
    user: str
    addresses: tuple[str, ...]
    database: str
    requests_per_hour: int
    """At the busiest hour of the day."""
    endpoints: tuple[Endpoint, ...]
    at_night: float = 0.0
    """The least share of `requests_per_hour`: jobs run at night, too."""
    traced: bool = False


def _customer(random: Random) -> int:
    return random.randint(1, 184_302)


def _product(random: Random) -> int:
    return random.randint(1, 8_400)


def _order(random: Random) -> int:
    return random.randint(300_000, 412_000)


def _since(times: StoryTimes) -> str:
    return f"'{times.day} 00:00:00'"


def _orders_of_customer(random: Random, times: StoryTimes, at: float) -> list[Step]:
    is_scanned = at >= times.at(INDEX_DROPPED)
    statement = sql.ORDERS_OF_CUSTOMER_SCANNED if is_scanned else sql.ORDERS_OF_CUSTOMER
    return [(statement, (_customer(random),))]


def _history(random: Random, times: StoryTimes, at: float) -> list[Step]:
    """Before the deploy one statement reads all products of a page; after it, one statement each."""
    steps: list[Step] = [(sql.HISTORY, (_customer(random),))]
    if at < times.at(DEPLOYED):
        return [*steps, (sql.PRODUCTS_OF_HISTORY, tuple(_product(random) for _ in range(6)))]
    return steps + [(sql.PRODUCT_OF_HISTORY, (_product(random),)) for _ in range(PRODUCTS_PER_HISTORY)]


def _order_page(random: Random, times: StoryTimes, at: float) -> list[Step]:
    order = _order(random)
    return [(sql.ORDER, (order,)), (sql.ITEMS, (order,))]


def _buy(random: Random, times: StoryTimes, at: float) -> list[Step]:
    order, product = _order(random), _product(random)
    return [
        (sql.BUY, (_customer(random), random.randint(9, 240))),
        (sql.BUY_ITEM, (order, product, 1)),
        (sql.TAKE_FROM_STOCK, (product,)),
    ]


def _pay(random: Random, times: StoryTimes, at: float) -> list[Step]:
    order = _order(random)
    return [
        (sql.CARD_OF_CUSTOMER, (_customer(random),)),
        (sql.AUTHORIZE, (order, _customer(random), random.randint(9, 240))),
        (sql.CAPTURE, (order,)),
    ]


def _single(statement: Statement, value: Callable[[Random], object]) -> Page:
    return lambda random, times, at: [(statement, (value(random),))]


def _dated(statement: Statement) -> Page:
    return lambda random, times, at: [(statement, (_since(times),))]


def _new_invoice(random: Random, times: StoryTimes, at: float) -> list[Step]:
    order = _order(random)
    return [(sql.WRITE_INVOICE, (order, f"'R-{order}'", random.randint(9, 240)))]


SHOP_WEB = Service(
    "shop-web",
    "shop-db-1",
    "app_orders",
    ("10.20.1.11", "10.20.1.12"),
    "shop",
    320,
    (
        Endpoint(0.308, "GET", "/customers/{id}/orders", _orders_of_customer),
        Endpoint(0.28, "GET", "/products/{id}", _single(sql.PRODUCT_PAGE, _product)),
        Endpoint(0.14, "GET", "/orders/{id}", _order_page),
        Endpoint(0.14, "GET", "/account", _single(sql.CUSTOMER, _customer)),
        Endpoint(0.11, "POST", "/orders", _buy),
        Endpoint(0.022, "GET", HISTORY_ROUTE, _history),
    ),
    traced=True,
)

SERVICES = (
    SHOP_WEB,
    Service(
        "bi-jobs",
        "shop-db-2",
        "reporting",
        ("10.20.3.21",),
        "shop",
        75,
        (
            Endpoint(0.4, "JOB", "revenue", _dated(sql.REVENUE)),
            Endpoint(0.2, "JOB", "best-sellers", _dated(sql.BEST_SELLERS)),
            Endpoint(0.4, "JOB", "stock-value", _single(sql.STOCK_VALUE, lambda random: 0)),
        ),
        at_night=0.8,
    ),
    Service(
        "catalog",
        "catalog-db-1",
        "app_catalog",
        ("10.20.1.21", "10.20.1.22"),
        "catalog",
        185,
        (
            Endpoint(
                0.45,
                "GET",
                "/search",
                _single(sql.SEARCH, lambda random: f"'%kind {random.randint(1, 40)}%'"),
            ),
            Endpoint(
                0.30, "GET", "/categories/{id}", _single(sql.CATEGORY, lambda random: random.randint(1, 90))
            ),
            Endpoint(0.25, "GET", "/products/{id}/reviews", _single(sql.REVIEWS, _product)),
        ),
    ),
    Service(
        "billing-api",
        "billing-db-1",
        "app_billing",
        ("10.20.2.11", "10.20.2.12"),
        "billing",
        170,
        (
            Endpoint(0.35, "POST", "/payments", _pay),
            Endpoint(0.65, "GET", "/payments/{id}", _single(sql.PAYMENT, _order)),
        ),
    ),
    Service(
        "invoices",
        "billing-db-2",
        "app_invoices",
        ("10.20.2.31",),
        "invoices",
        150,
        (
            Endpoint(0.40, "GET", "/invoices/{id}", _single(sql.INVOICE, _order)),
            Endpoint(0.35, "POST", "/invoices", _new_invoice),
            Endpoint(0.25, "JOB", "dunning", _dated(sql.OPEN_INVOICES)),
        ),
        at_night=0.3,
    ),
)


def version(times: StoryTimes, at: float) -> str:
    """Returns the version of shop-web that runs at a time."""
    return NEW_VERSION if at >= times.at(DEPLOYED) else OLD_VERSION
