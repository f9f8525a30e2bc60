"""Sends browsers the titles of all columns and metrics that the charts of a dashboard show.

Superset 6.1.0 sends the titles of a dataset's columns with a dashboard, but only of columns that it finds in
the parameters of COLUMN_FORM_DATA_PARAMS. Pivot tables, heat maps and flows have other ones. Their columns
have the names of the query then, such as `data_class`. superset_config.py calls `name_what_charts_show` when
the application starts.
"""

COLUMNS = ("groupbyRows", "groupbyColumns", "x_axis", "y_axis", "source", "target", "tooltip_columns")
COLUMNS += ("start_time", "end_time")
"""Parameters of charts, each a column or a list of columns, that Superset does not read."""
METRICS = ("tooltip_metrics",)
"""The same with metrics."""


def name_what_charts_show() -> None:
    """Adds these parameters to those in which Superset looks. A second call changes nothing."""
    from superset.connectors.sqla import models

    for known, more in (
        (models.COLUMN_FORM_DATA_PARAMS, COLUMNS),
        (models.METRIC_FORM_DATA_PARAMS, METRICS),
    ):
        known.extend(each for each in more if each not in known)
