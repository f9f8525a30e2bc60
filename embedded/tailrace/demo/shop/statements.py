"""The statements of the shop's applications, with their usual cost and, for MariaDB, their plans.

A statement has %s where an application's driver puts a value, as its spans contain it.
"""

from dataclasses import dataclass, replace

SLOWER_WITHOUT_INDEX = 20
"""The factor by which the orders of a customer take longer without their index."""


@dataclass(frozen=True)
class Statement:
    """A statement and what one execution costs."""

    text: str
    milliseconds: float
    """Median duration."""
    sent: int = 0
    examined: int = 0
    affected: int = 0
    plan: tuple[str, ...] = ()


def _row(select: str, table: str, access: str, key: str, ref: str, rows: int, extra: str = "") -> str:
    """Returns a row of EXPLAIN in the order of `slow_logs.EXPLAIN`."""
    length = "4" if key != "NULL" else "NULL"
    read = "NULL" if access == "const" else f"{rows}.00"
    share = "NULL" if access == "const" else "100.00"
    return "\t".join(
        ("1", select, table, access, key, key, length, ref, str(rows), read, "100.00", share, extra)
    )


def _insert(table: str) -> tuple[str, ...]:
    return ("\t".join(("1", "INSERT", table, "ALL", *["NULL"] * 6, "100.00", "100.00", "NULL")),)


ORDERS_OF_CUSTOMER = Statement(
    "SELECT id, created_at, status, total FROM orders WHERE customer_id = %s ORDER BY created_at DESC "
    "LIMIT 20",
    8,
    20,
    20,
    plan=(_row("SIMPLE", "orders", "ref", "by_customer", "const", 20, "Using where; Using filesort"),),
)
ORDERS_OF_CUSTOMER_SCANNED = replace(
    ORDERS_OF_CUSTOMER,
    milliseconds=ORDERS_OF_CUSTOMER.milliseconds * SLOWER_WITHOUT_INDEX,
    examined=412_260,
    plan=(_row("SIMPLE", "orders", "ALL", "NULL", "NULL", 412_240, "Using where; Using filesort"),),
)
PRODUCT_PAGE = Statement(
    "SELECT id, name, price, description FROM products WHERE id = %s",
    0.3,
    1,
    1,
    plan=(_row("SIMPLE", "products", "const", "PRIMARY", "const", 1),),
)
ORDER = Statement(
    "SELECT id, customer_id, created_at, status, total, note FROM orders WHERE id = %s",
    0.4,
    1,
    1,
    plan=(_row("SIMPLE", "orders", "const", "PRIMARY", "const", 1),),
)
ITEMS = Statement(
    "SELECT i.product_id, i.quantity, p.name FROM order_items i JOIN products p ON p.id = i.product_id "
    "WHERE i.order_id = %s",
    0.7,
    4,
    8,
    plan=(
        _row("SIMPLE", "i", "ref", "by_order", "const", 4),
        _row("SIMPLE", "p", "eq_ref", "PRIMARY", "shop.i.product_id", 1),
    ),
)
CUSTOMER = Statement(
    "SELECT id, name, email FROM customers WHERE id = %s",
    0.3,
    1,
    1,
    plan=(_row("SIMPLE", "customers", "const", "PRIMARY", "const", 1),),
)
HISTORY = Statement(
    "SELECT i.product_id, i.quantity, o.created_at FROM orders o JOIN order_items i ON i.order_id = o.id "
    "WHERE o.customer_id = %s AND o.status = 'shipped' LIMIT 24",
    2.6,
    24,
    68,
    plan=(
        _row("SIMPLE", "o", "ref", "by_customer_status", "const", 20, "Using where"),
        _row("SIMPLE", "i", "ref", "by_order", "shop.o.id", 2),
    ),
)
PRODUCT_OF_HISTORY = Statement(
    "SELECT name, image_url FROM products WHERE id = %s",
    0.4,
    1,
    1,
    plan=(_row("SIMPLE", "products", "const", "PRIMARY", "const", 1),),
)
PRODUCTS_OF_HISTORY = Statement(
    "SELECT id, name, image_url FROM products WHERE id IN (%s, %s, %s, %s, %s, %s)",
    0.9,
    6,
    6,
    plan=(_row("SIMPLE", "products", "range", "PRIMARY", "NULL", 6, "Using where"),),
)
BUY = Statement(
    "INSERT INTO orders (customer_id, created_at, status, total) VALUES (%s, NOW(), 'open', %s)",
    1.1,
    affected=1,
    plan=_insert("orders"),
)
BUY_ITEM = Statement(
    "INSERT INTO order_items (order_id, product_id, quantity) VALUES (%s, %s, %s)",
    0.6,
    affected=1,
    plan=_insert("order_items"),
)
TAKE_FROM_STOCK = Statement(
    "UPDATE stock SET on_hand = on_hand - 1 WHERE product_id = %s", 0.8, examined=1, affected=1
)

SEARCH = Statement(
    "SELECT id, name, price FROM products WHERE name LIKE %s ORDER BY price LIMIT 20", 9, 20, 8_400
)
CATEGORY = Statement("SELECT id, name, price FROM products WHERE category_id = %s LIMIT 60", 1.7, 60, 60)
REVIEWS = Statement(
    "SELECT rating, body, created_at FROM reviews WHERE product_id = %s LIMIT 10", 0.8, 10, 10
)

CARD_OF_CUSTOMER = Statement("SELECT id, card_number, expires FROM cards WHERE customer_id = %s", 0.6, 1, 1)
AUTHORIZE = Statement(
    "INSERT INTO payments (order_id, card_id, amount, state) VALUES (%s, %s, %s, 'authorized')",
    1.4,
    affected=1,
)
CAPTURE = Statement("UPDATE payments SET state = 'captured' WHERE id = %s", 1.0, examined=1, affected=1)
PAYMENT = Statement("SELECT id, order_id, amount, state FROM payments WHERE order_id = %s", 0.5, 1, 1)

INVOICE = Statement("SELECT id, number, total, pdf_key FROM invoices WHERE order_id = %s", 0.5, 1, 1)
OPEN_INVOICES = Statement(
    "SELECT id, number, total FROM invoices WHERE state = 'open' AND due < %s ORDER BY due LIMIT 200",
    14,
    200,
    21_000,
)
WRITE_INVOICE = Statement(
    "INSERT INTO invoices (order_id, number, total, state) VALUES (%s, %s, %s, 'open')", 1.2, affected=1
)

REVENUE = Statement(
    "SELECT DATE(created_at) AS day, SUM(total) AS revenue FROM orders WHERE created_at > %s GROUP BY day",
    90,
    30,
    96_000,
    plan=(
        _row("SIMPLE", "orders", "range", "by_created_at", "NULL", 96_000, "Using where; Using temporary"),
    ),
)
BEST_SELLERS = Statement(
    "SELECT p.id, p.name, SUM(i.quantity) AS sold FROM order_items i JOIN orders o ON o.id = i.order_id "
    "JOIN products p ON p.id = i.product_id WHERE o.created_at > %s GROUP BY p.id, p.name "
    "ORDER BY sold DESC LIMIT 10",
    150,
    10,
    241_000,
    plan=(
        _row("SIMPLE", "o", "range", "by_created_at", "NULL", 96_000, "Using where; Using temporary"),
        _row("SIMPLE", "i", "ref", "by_order", "shop.o.id", 2),
        _row("SIMPLE", "p", "eq_ref", "PRIMARY", "shop.i.product_id", 1),
    ),
)
STOCK_VALUE = Statement(
    "SELECT warehouse, SUM(on_hand * cost) AS value FROM stock WHERE on_hand > %s GROUP BY warehouse",
    42,
    6,
    8_400,
    plan=(_row("SIMPLE", "stock", "ALL", "NULL", "NULL", 8_400, "Using where; Using temporary"),),
)
ORDERS_BY_STATUS = Statement(
    "SELECT status, COUNT(*) AS orders, SUM(total) AS revenue FROM orders WHERE created_at > %s "
    "GROUP BY status",
    260,
    5,
    88_000,
    plan=(
        _row("SIMPLE", "orders", "range", "by_created_at", "NULL", 88_000, "Using where; Using temporary"),
    ),
)
