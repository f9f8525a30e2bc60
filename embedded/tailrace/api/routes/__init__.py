"""The resources of the API: each module has a `router`, and application.py lists them."""
