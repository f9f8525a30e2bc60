"""The page's entry in the menu, and the blueprint of its routes."""

from flask import Blueprint

from tailrace_pages.page import Page

PAGE = Page("Retention", "/tailrace/retention/")
blueprint = Blueprint("tailrace_retention", __name__)
