"""Superset's configuration, loaded through SUPERSET_CONFIG_PATH. Other values are those of superset.config.

The component that runs Superset (tailrace_local.components.superset, or a container) sets these variables:

    PYTHONPATH                 this directory, for tailrace_*.py, tailrace_pages and tailrace_sso, and the
                               packages tailrace and tailrace_capture
    SUPERSET_HOME              directory for the metadata database and the caches
    SUPERSET_SECRET_KEY_FILE   file with the key that signs sessions and encrypts stored passwords
    SUPERSET_ACCESS_RECORDER_URL, SUPERSET_ACCESS_RECORDER_PASSWORD_FILE
                               for the record of accesses to unmasked statements, see
                               tailrace_audited_connection.py; without them nobody has access
    SUPERSET_ANALYST_URL, SUPERSET_ANALYST_PASSWORD_FILE
                               for the actions of the alert inbox (tailrace_pages/alerts/handling.py): address
                               and password of ClickHouse's user `analyst`; without them the inbox only shows
    SUPERSET_KAFKA, SUPERSET_KAFKA_PROPERTIES, SUPERSET_KAFKA_PASSWORD_FILE
                               for its suppressions: Kafka's `host:port,…`, and if Kafka requires a login, a
                               JSON object of librdkafka's properties and the file with the password; without
                               the first it has none
    SUPERSET_EVIDENCE_SOCKET   Unix socket of the evidence service, for the page Evidence
                               (tailrace_pages/evidence/actions.py); without it the page shows commands
    SUPERSET_FINGERPRINT_SOCKET
                               Unix socket of the fingerprint service, with which the page Queries finds
                               pasted statements (tailrace_pages/statements/fingerprinting.py)
    SUPERSET_SSO_FILE          sso.yaml (docs/SSO.md): login with an OpenID provider or LDAP; without it
                               Superset has local users only
    SUPERSET_TRUSTED_PROXIES   addresses or networks of reverse proxies, separated by commas, which name the
                               client in X-Forwarded-For (tailrace_proxies.py); without it no header counts

With reports by mail (reports.py in this directory), SUPERSET_REPORTS is `true`, and reports.py has

    SUPERSET_MAIL_FILE         JSON: host, port, security (starttls, tls, none), sender, user, password_file;
                               and the addresses of Superset: `address` for the browser that takes the
                               screenshots, `dashboards` for the links in mails
    SUPERSET_CERTIFICATE_FILE  Superset's certificate (PEM), if that browser does not know its authority: the
                               browser accepts this certificate, and no other with an unknown authority

Metadata and caches are files, which is enough for one process. Several servers share them with

    SUPERSET_METADATA_URI_FILE   file with the SQLAlchemy URL of a database, including the password
    SUPERSET_REDIS_URL_FILE      file with the URL of a Redis, including the password: caches and login limits
"""

import copy
import json
import os
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import tailrace_audited_connection
import tailrace_chart_csv
import tailrace_chart_labels
import tailrace_data_cache
import tailrace_error_pages
import tailrace_home
import tailrace_kept_range
import tailrace_log_lines
import tailrace_page_head
import tailrace_proxies
import tailrace_rate_limit
import tailrace_server_colours
import tailrace_static_files
import tailrace_superset_patches
import tailrace_table_search
import tailrace_time_ranges
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from superset.config import TALISMAN_CONFIG as _TALISMAN_DEFAULTS
from superset.config import THEME_DARK as _THEME_DARK
from superset.config import THEME_DEFAULT as _THEME_LIGHT
from superset.utils.log import DBEventLogger

from tailrace_sso.security import SecurityManager

tailrace_log_lines.install()

_HOME = Path(os.environ["SUPERSET_HOME"])
_MINUTE = 60
_DAY = 24 * 60 * _MINUTE

# --- storage -----------------------------------------------------------------------------------------------

SECRET_KEY = Path(os.environ["SUPERSET_SECRET_KEY_FILE"]).read_text().strip()


def _in_file(variable: str, otherwise: str) -> str:
    return Path(os.environ[variable]).read_text().strip() if variable in os.environ else otherwise


SQLALCHEMY_DATABASE_URI = _in_file(
    # SQLite has one writer at a time. Others wait for it, also while a busy machine imports all dashboards.
    "SUPERSET_METADATA_URI_FILE",
    f"sqlite:///{_HOME}/superset.db?check_same_thread=false&timeout=60",
)
_REDIS_URL = _in_file("SUPERSET_REDIS_URL_FILE", "")
_CACHE = (
    {"CACHE_TYPE": "RedisCache", "CACHE_REDIS_URL": _REDIS_URL}
    if _REDIS_URL
    else {"CACHE_TYPE": "FileSystemCache", "CACHE_DIR": str(_HOME / "cache")}
)


def _cache(name: str, seconds: int) -> dict:
    return {**_CACHE, "CACHE_KEY_PREFIX": f"{name}-", "CACHE_DEFAULT_TIMEOUT": seconds}


CACHE_CONFIG = _cache("metadata", 5 * _MINUTE)
# Until rows arrive. Files of data have their own directory: from one with more than CACHE_THRESHOLD files,
# flask-caching deletes some of any age, and the other directory has the filters of links.
DATA_CACHE_CONFIG = {
    **_cache("data", tailrace_data_cache.UNKNOWN_SECONDS),
    **({} if _REDIS_URL else {"CACHE_DIR": str(_HOME / "data-cache"), "CACHE_THRESHOLD": 1000}),
}
# An open dashboard asks again each minute, and gets cached data if no rows have arrived.
DASHBOARD_AUTO_REFRESH_MODE = "fetch"
FILTER_STATE_CACHE_CONFIG = _cache("filters", 90 * _DAY)
EXPLORE_FORM_DATA_CACHE_CONFIG = _cache("explore", 7 * _DAY)

CSV_STREAMING_ROW_THRESHOLD = tailrace_chart_csv.NEVER
ADDITIONAL_MIDDLEWARE = [tailrace_static_files.CompressedFiles]
if _PROXIES := tailrace_proxies.networks(os.environ.get(tailrace_proxies.VARIABLE, "")):
    ADDITIONAL_MIDDLEWARE.append(tailrace_proxies.behind(_PROXIES))

# --- security ----------------------------------------------------------------------------------------------

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# True if users reach Superset through HTTPS. The one-machine stack listens on 127.0.0.1 only.
SESSION_COOKIE_SECURE = os.environ.get("SUPERSET_HTTPS", "") == "true"
WTF_CSRF_ENABLED = True
PREVENT_UNSAFE_DB_CONNECTIONS = True
AUTH_USER_REGISTRATION = False  # tailrace_sso creates users of servers itself
CUSTOM_SECURITY_MANAGER = SecurityManager
PUBLIC_ROLE_LIKE = None

# Requests are read before a page sees them. The largest are bundles of evidence to verify (256 MiB).
MAX_CONTENT_LENGTH = 257 << 20

RATELIMIT_ENABLED = True
RATELIMIT_STORAGE_URI = _REDIS_URL or f"{tailrace_rate_limit.SCHEME}://"
RATELIMIT_APPLICATION = "500 per second"  # one dashboard loads hundreds of static files at once
AUTH_RATE_LIMITED = True
AUTH_RATE_LIMIT = "5 per second"

# Browsers may connect to this server only: no telemetry pixels, map tiles, web fonts or content networks.
TALISMAN_CONFIG = copy.deepcopy(_TALISMAN_DEFAULTS)
TALISMAN_CONFIG["content_security_policy"].update(
    {
        "img-src": ["'self'", "blob:", "data:"],
        "connect-src": ["'self'"],
        "style-src": ["'self'", "'unsafe-inline'"],
        "font-src": ["'self'"],
        "frame-ancestors": ["'self'"],
    }
)
TALISMAN_CONFIG["session_cookie_secure"] = SESSION_COOKIE_SECURE

# Statements carry the name of the user, and accesses to unmasked statements are recorded first.
DB_CONNECTION_MUTATOR = tailrace_audited_connection.connection


class _RequestLogger(DBEventLogger):
    """Superset's log of users' actions, without the five steps of each request for chart data.

    Superset 6.1.0 writes a row with the whole request for every step and commits it, so that it reads the
    chart from its database again. ClickHouse's query log contains the statements and the names of the users.
    """

    STEPS = frozenset(
        {
            "execute_sql",
            "load_into_dataframe",
            "QueryObject.post_processing",
            "_get_data_response",
            "ChartDataRestApi.json_dumps",
        }
    )

    def log(self, user_id, action, *arguments, **named) -> None:
        if action not in self.STEPS:
            super().log(user_id, action, *arguments, **named)


EVENT_LOGGER = _RequestLogger()

FEATURE_FLAGS = {
    "DASHBOARD_RBAC": True,
    # Queries choose their time grain from the dashboard's time range (sql/queries).
    "ENABLE_TEMPLATE_PROCESSING": True,
    "EMBEDDABLE_CHARTS": False,
    "SLACK_ENABLE_AVATARS": False,
    "ALERT_REPORTS": os.environ.get("SUPERSET_REPORTS", "") == "true",
}

# --- reports by mail ---------------------------------------------------------------------------------------


def _public_key_hash(certificate_file: Path) -> str:
    """Returns the SHA-256 hash of the certificate's public key, Base64, as Chromium's option expects it."""
    key = x509.load_pem_x509_certificate(certificate_file.read_bytes()).public_key()
    return b64encode(
        sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    ).decode()


WEBDRIVER_TYPE = "chrome"
# Debian's driver finds its Chromium. `binary_location` fails in 6.1.0 with the Selenium that it requires.
WEBDRIVER_CONFIGURATION = {"service": {"executable_path": "/usr/bin/chromedriver", "log_output": os.devnull}}
WEBDRIVER_OPTION_ARGS = [
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium has no sandbox for root
]
if "SUPERSET_CERTIFICATE_FILE" in os.environ:
    _KEY = _public_key_hash(Path(os.environ["SUPERSET_CERTIFICATE_FILE"]))
    WEBDRIVER_OPTION_ARGS.append(f"--ignore-certificate-errors-spki-list={_KEY}")
WEBDRIVER_WINDOW = {"dashboard": (1600, 2000), "slice": (1600, 900), "pixel_density": 1}
ALERT_REPORTS_MAX_CUSTOM_SCREENSHOT_WIDTH = 1600
# Superset's limits are 10 s for the dashboard, 10 s for its charts to appear, and a minute for their data.
# With two test suites beside it, two cores took longer. Only a failing report waits so long.
SCREENSHOT_LOCATE_WAIT = 3 * _MINUTE
SCREENSHOT_LOAD_WAIT = 5 * _MINUTE
# A browser gives up a chart after this time, also while the request waits for one of its six connections.
SUPERSET_WEBSERVER_TIMEOUT = 4 * _MINUTE
EMAIL_REPORTS_SUBJECT_PREFIX = "[Tailrace]"
EMAIL_REPORTS_CTA = "Open the dashboard"

if "SUPERSET_MAIL_FILE" in os.environ:
    _MAIL = json.loads(Path(os.environ["SUPERSET_MAIL_FILE"]).read_text())
    SMTP_HOST, SMTP_PORT = _MAIL["host"], _MAIL["port"]
    SMTP_STARTTLS, SMTP_SSL = _MAIL["security"] == "starttls", _MAIL["security"] == "tls"
    SMTP_SSL_SERVER_AUTH = True
    SMTP_USER = _MAIL["user"]
    SMTP_PASSWORD = Path(_MAIL["password_file"]).read_text().strip() if SMTP_USER else ""
    SMTP_MAIL_FROM = _MAIL["sender"]
    WEBDRIVER_BASEURL = _MAIL["address"] + "/"
    WEBDRIVER_BASEURL_USER_FRIENDLY = _MAIL["dashboards"] + "/"


def EMAIL_HEADER_MUTATOR(message, **_):  # noqa: N802 - Superset's name
    """Marks mails as written by a program, so that automatic replies do not start a loop (RFC 3834)."""
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    return message


# --- appearance --------------------------------------------------------------------------------------------

# "Last day" is the last 24 hours, not the time since yesterday's midnight.
DEFAULT_RELATIVE_START_TIME = "now"
DEFAULT_RELATIVE_END_TIME = "now"
DEFAULT_TIME_FILTER = "Last day"


def _ignore_colours():
    """before_request: ignores requests of readers to store the colours of new values.

    A dashboard of 6.1.0 sends them for every user. Superset rejects them from users who do not own the
    dashboard, and the page then shows an error.
    """
    from flask import jsonify, request
    from flask_login import current_user
    from superset import security_manager

    stores = request.method == "PUT" and request.endpoint == "DashboardRestApi.put_colors"
    if stores and current_user.is_authenticated and not security_manager.can_access("can_write", "Dashboard"):
        return jsonify(result=[])
    return None


def FLASK_APP_MUTATOR(app) -> None:  # noqa: N802 - Superset's name
    """Adds the login of servers and the work pages, and applies the patches of this directory."""
    import tailrace_sso.registration
    from tailrace_pages import registration

    tailrace_sso.registration.register(app, _HOME, _REDIS_URL)
    registration.register(app)
    tailrace_superset_patches.apply_patches()
    tailrace_data_cache.cache_until_rows_arrive()
    tailrace_table_search.keep_patterns_from_queries()
    tailrace_page_head.extend_head(app)
    tailrace_chart_csv.write_readable_files()
    tailrace_chart_labels.name_what_charts_show()
    app.before_request(_ignore_colours)
    app.before_request(tailrace_home.open_overview)
    app.before_request(tailrace_table_search.search_anywhere)
    app.after_request(tailrace_error_pages.without_other_hosts)
    app.after_request(tailrace_kept_range.remember)
    app.after_request(tailrace_kept_range.open_with_it)
    app.after_request(tailrace_server_colours.name_colours)
    app.after_request(tailrace_chart_csv.name_files)
    tailrace_time_ranges.interpret(DEFAULT_RELATIVE_START_TIME, DEFAULT_RELATIVE_END_TIME)


# The "currency" is the second: "$.3~s" writes 1.2ms. Charts that users copied before SECONDS have it.
D3_FORMAT = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["", "s"]}

APP_NAME = "Tailrace"
LOGO_TOOLTIP = "Tailrace"
LOGO_TARGET_PATH = "/"
_LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 132 30">'
    '<g fill="none" stroke="#0072B2" stroke-width="3" stroke-linecap="round">'
    '<path d="M2 10c5-5 9-5 14 0s9 5 14 0"/>'
    '<path stroke="#56B4E9" d="M2 20c5-5 9-5 14 0s9 5 14 0"/></g>'
    '<text x="40" y="22" font-family="Helvetica,Arial,sans-serif" font-size="21" font-weight="600" '
    'fill="{ink}">Tailrace</text></svg>'
)

# Shown in a chart while it loads. It is not animated: Superset's own spinner is drawn sixty times a second in
# each loading chart, which takes a whole core in a browser without a graphics card.
_WAITING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 30">'
    '<g fill="none" stroke-width="3" stroke-linecap="round">'
    '<path stroke="#0072B2" d="M8 10c7-5 15-5 22 0s15 5 22 0"/>'
    '<path stroke="#56B4E9" d="M8 20c7-5 15-5 22 0s15 5 22 0"/></g></svg>'
)


# Flows of a Sankey chart. Of 1,000 actions, one is a thousandth of the chart's height: without a border it is
# invisible. Flows that cross stay distinguishable, because they are not opaque.
_FLOWS = {
    "lineStyle": {"opacity": 0.6, "borderWidth": 1, "borderColor": "#8F8F8F"},
    "emphasis": {"lineStyle": {"opacity": 0.85}},
}


def _theme(base: dict, ink: str, link: str) -> dict:
    logo = b64encode(_LOGO.format(ink=ink).encode()).decode()
    brand = {
        "brandAppName": APP_NAME,
        "brandLogoAlt": APP_NAME,
        "brandLogoUrl": f"data:image/svg+xml;base64,{logo}",
        "brandLogoHref": LOGO_TARGET_PATH,
        "colorPrimary": "#0072B2",
        "colorLink": link,
        "brandSpinnerSvg": _WAITING,
        "motion": False,
    }
    still = {"animation": False}  # charts appear at once
    tabs = {"itemSelectedColor": link}
    # Labels of up to 40 characters (access_flow.sql) are beside the flows, not on them. Flows of few actions
    # are so far apart that their labels do not overlap.
    beside = [{"depth": 0, "label": {"position": "left"}}]
    flows = {"nodeGap": 16, "left": 250, "right": 250, "levels": beside, **_FLOWS}
    # Half a label, as in dashboards/defaults.yaml: a Gantt chart has no `echart_options`.
    for_last_label = {"grid": {"right": 34}}
    return {
        **base,
        "token": {**base["token"], **brand},
        "components": {"Tabs": tabs},
        "echartsOptionsOverrides": still,
        "echartsOptionsOverridesByChartType": {
            "sankey_v2": {"series": flows},
            "gantt_chart": for_last_label,
        },
    }


# The colours of links have a contrast of at least 4.5 to the background (WCAG 2.2 AA).
THEME_DEFAULT = _theme(_THEME_LIGHT, "#1f2a33", link="#0072B2")
THEME_DARK = _theme(_THEME_DARK, "#e8edf1", link="#56B4E9")
ENABLE_UI_THEME_ADMINISTRATION = False

# Distinguishable with every common kind of colour blindness. Each colour has a contrast of at least 3 to the
# backgrounds of both themes (WCAG 2.2, 1.4.11).
EXTRA_CATEGORICAL_COLOR_SCHEMES = [
    {
        "id": "tailrace",
        "label": "Tailrace (colour-blind safe)",
        "description": "Contrast of at least 3 to light and dark backgrounds",
        "isDefault": True,
        "colors": [
            "#1B66F8",
            "#D4771A",
            "#36796F",
            "#C739A5",
            "#1396D7",
            "#DF0913",
            "#8F8F8F",
            "#697239",
        ],
    }
]
