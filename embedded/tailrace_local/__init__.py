"""The one-machine stack: installs, starts, supervises and stops every component.

It adds its commands to those of the package tailrace, which never imports this one.
"""
