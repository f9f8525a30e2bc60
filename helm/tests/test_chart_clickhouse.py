"""The ClickHouse of the chart has the settings that keep that of the one-machine stack safe."""

from xml.etree import ElementTree

import pytest

from helm.tests.test_chart import PROFILES
from tailrace.config.resources import REPOSITORY

pytestmark = pytest.mark.long  # Helm is built

TEMPLATE = REPOSITORY / "sql/users/config.xml.template"
SAFETY = (
    "access_control_improvements/select_from_system_db_requires_grant",
    "storage_configuration/disks/default/keep_free_space_bytes",
)
"""Settings of the template that protect data; the others fit the engine to one small machine."""


@pytest.mark.parametrize("profile", PROFILES)
def test_safety_settings_are_those_of_the_one_machine_stack(render, profile):
    root = ElementTree.fromstring(TEMPLATE.read_text())
    here = {path: root.findtext(path) for path in SAFETY}
    (made,) = (each for each in render(profile) if each["kind"] == "ClickHouseInstallation")
    there = made["spec"]["configuration"]["settings"]
    access, space = SAFETY
    assert there[access] == here[access] == "true"
    assert int(there[space]) >= int(here[space]) > 0
