"""The access of roles for every pair of role, dashboard, dataset and forgery, of which CI takes each once."""

from itertools import product

import pytest

from dashboards.tests.test_roles import (  # noqa: F401 - fixtures
    DASHBOARDS,
    FORBIDDEN,
    FORGERIES,
    LOOKERS,
    admin,
    charts,
    clients,
    forged_places,
    in_its_place,
    may,
    question,
    restricted,
    status,
)

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("key", LOOKERS)
def test_every_pair_is_decided_alike(clients, charts, key):  # noqa: F811
    for slug, way in product(DASHBOARDS, ("", "/charts", "/datasets")):
        found = status(clients[key].get, f"/api/v1/dashboard/{slug}{way}")
        assert (found == 200) == may(key, slug) and found in (200, *FORBIDDEN), f"{slug}{way}: {found}"
    for chart in {(chart.slug, chart.dataset): chart for chart in charts}.values():
        found = status(clients[key].post, "/api/v1/chart/data", in_its_place(chart))
        assert found in ((200,) if may(key, chart.slug) else FORBIDDEN), f"{chart}: {found}"
    for chart in {chart.dataset: chart for chart in charts}.values():
        assert status(clients[key].post, "/api/v1/chart/data", question(chart)) in FORBIDDEN, chart
    mine = next(chart for chart in charts if may(key, chart.slug))
    its = {chart.dataset for chart in charts if may(key, chart.slug)}
    foreign = {chart.slug: chart for chart in charts if chart.dataset not in its}.values()
    for chart, number in product(foreign, range(FORGERIES)):
        asked = question(chart, **forged_places(mine, chart)[number])
        assert status(clients[key].post, "/api/v1/chart/data", asked) in FORBIDDEN, (chart, number)


def test_rows_of_every_dataset_are_filtered_for_every_role(clients, charts, restricted):  # noqa: F811
    shown = {(chart.dataset, key): chart for chart in charts for key in LOOKERS if may(key, chart.slug)}
    for (_, key), chart in sorted(shown.items(), key=lambda each: each[0]):
        answer = clients[key].post("/api/v1/chart/data", in_its_place(chart))["result"][0]
        assert answer["data"] == [], f"{key}: {chart}"
