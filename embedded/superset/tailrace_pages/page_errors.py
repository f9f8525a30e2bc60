"""Exceptions that become an error page: a status and one sentence that says what is wrong and what to do.

Raise them anywhere below a view. registration.py renders them with templates/tailrace_pages/error.html. The
sentence may contain text of the request, because the template escapes it.
"""


class PageError(Exception):
    """The page cannot be shown; the message is shown to the viewer."""

    status = 500
    title = "The page cannot be shown"


class BadAddressError(PageError):
    """The address or the form has a value that does not exist or cannot be read."""

    status = 400
    title = "The address has an invalid value"


class ForbiddenError(PageError):
    """The viewer's role does not have the permission."""

    status = 403
    title = "Your role does not show this page"


class NotFoundError(PageError):
    """The object does not exist, or the viewer may not see it; the page is the same for both."""

    status = 404
    title = "Not found"


class UnavailableError(PageError):
    """The data cannot be read: a part of Tailrace is missing, or refuses the query."""

    status = 503
    title = "The data cannot be read now"


class BusyError(UnavailableError):
    """ClickHouse does not answer, or has too much to do: the same request may succeed a moment later."""

    retry_seconds = 10
    """Value of the header Retry-After, as in the REST API. The page has a link that repeats the request."""
