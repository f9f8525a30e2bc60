"""Removes the links to other hosts from Superset's pages for the status 404 and 500.

Superset 6.1.0 sends two static files, which load a font from the web. The content security policy blocks its
style sheet, but a browser still connects to the host of the font (`preconnect`). superset_config.py registers
`without_other_hosts`.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Response

STATUS = (404, 500)
OTHER_HOSTS = re.compile(r"""<link\b[^>]*\bhref=["']?(?:https?:)?//[^>]*>""", re.IGNORECASE)


def without_other_hosts(response: "Response") -> "Response":
    """after_request: removes links with the address of a host from an error page that is a file."""
    is_file = response.direct_passthrough
    if is_file and response.status_code in STATUS and response.mimetype == "text/html":
        response.direct_passthrough = False
        response.set_data(OTHER_HOSTS.sub("", response.get_data(as_text=True)))
    return response
