"""The work pages: server-rendered pages inside Superset, for action where dashboards are for exploration.

A page has the login, the roles and the CSRF protection of Superset, and reads ClickHouse as the account of
its viewer's audience. docs/WORK-PAGES.md describes how to add one. The modules, from pure to Superset:

    permissions.py    the bundles of roles.yaml that pages require, as permissions of Superset
    page_errors.py    exceptions that become an error page with a sentence
    time_range.py     the time range of an address, and the links that change it
    formats.py        values as texts: counts, durations, sizes, times, short ids
    columns.py        the columns of a table, the same for HTML and for CSV
    csv_table.py      a table as CSV that a spreadsheet does not execute
    links.py          the addresses of pages, and the names from logs in them
    dashboard_links.py  the addresses of dashboards with a time range and filters
    page.py           title and first address of a page
    queries.py        the text of a query of sql/queries
    static_files.py   style sheet, scripts and chart library, with the hash of their content in the address
    viewer.py         who asks, with which permissions and which ClickHouse account; the decorator of views
    recent_rows.py    rows about read minutes that requests share
    store.py          rows of ClickHouse for the viewer
    rendering.py      templates, CSV answers and redirects
    registration.py   the list of the pages; called by superset_config.py

Those above viewer.py import neither Flask nor Superset, and are tested without them. Each page has a package
of its own: alerts, rules, statements (the page Queries), entities (Users and clients), evidence, setup,
retention.
"""
