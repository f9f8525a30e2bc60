"""The page's entry in the menu, the blueprint of its routes, and where its forms lead back."""

from flask import Blueprint, request

from tailrace_pages.page import Page

PAGE = Page("Search", "/tailrace/search/")
blueprint = Blueprint("tailrace_search", __name__)


def own_path(path: str) -> str:
    """Returns the path of a form if it is one of this page, otherwise that of the page."""
    root = request.script_root + PAGE.path
    return path if path.startswith(root) and "\\" not in path else root
