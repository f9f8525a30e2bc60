"""The page's entry in the menu, and the blueprint of its routes."""

from flask import Blueprint

from tailrace_pages.page import Page

PAGE = Page("Alert inbox", "/tailrace/alerts/")
blueprint = Blueprint("tailrace_alerts", __name__)
