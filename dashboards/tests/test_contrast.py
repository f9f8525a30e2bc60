"""Contrasts of the colours in style.css and superset_config.py (WCAG 2.2 AA), computed without a browser.

test_dashboards_axe.py examines the pages, which contain the colours of Superset, too.
"""

import re

import pytest

from tailrace.config.resources import REPOSITORY

STYLE = re.sub(r"/\*.*?\*/", "", (REPOSITORY / "dashboards/style.css").read_text(), flags=re.DOTALL)
CONFIGURATION = (REPOSITORY / "embedded/superset/superset_config.py").read_text()
RULES = dict(re.findall(r"([^{}]+)\{([^{}]*)\}", STYLE))
"""Declarations by selectors."""

LEAST_OF_TEXT, LEAST_OF_GRAPHICS = 4.5, 3.0
BACKGROUNDS = {"LIGHT": ("#FFFFFF",), "DARK": ("#000000", "#141414")}
"""Backgrounds of pages and charts, by theme. #141414 has the lower contrast to light text."""
TEXT_OPACITY = 0.85
"""Opacity of the black or white text of Superset's dark theme; the light theme has 0.88."""
PALE_IN_SUPERSET = (".ant-select .ant-select-selection-placeholder", ".dashboard table td.dt-is-null")
PALE_GRAPHICS = {"#E69F00", "#56B4E9", "#F0E442"}
"""Colours of Okabe and Ito with a contrast below 3 to white: charts have legends and tooltips in addition."""


def luminance(colour: str) -> float:
    """Returns the relative luminance of `#RRGGBB`, 0 to 1."""
    red, green, blue = (linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def contrast(colour: str, background: str) -> float:
    darker, lighter = sorted((luminance(colour), luminance(background)))
    return (lighter + 0.05) / (darker + 0.05)


def blended(ink: str, background: str, opacity: float) -> str:
    """Returns the visible colour of ink with this opacity, 0 to 1."""
    pairs = ((int(ink[at : at + 2], 16), int(background[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)


def test_text_of_our_style_is_readable_in_both_themes():
    assert RULES
    for selectors, declarations in RULES.items():
        for colour in re.findall(r"(?<!-)color: (?!inherit)([^;]+);", declarations):
            for background in sum(BACKGROUNDS.values(), ()):
                assert contrast(colour, background) >= LEAST_OF_TEXT, (selectors, background)


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_dimmed_text_is_readable(theme):
    ink = "#000000" if theme == "LIGHT" else "#FFFFFF"
    dimmed = {
        selectors: TEXT_OPACITY * float(opacity)
        for selectors, declarations in RULES.items()
        for opacity in re.findall(r"opacity: ([\d.]+);", declarations)
        if ".cell-bar" not in selectors
    }
    assert dimmed
    for selectors, opacity in dimmed.items():
        for background in BACKGROUNDS[theme]:
            shown = blended(ink, background, opacity)
            assert contrast(shown, background) >= LEAST_OF_TEXT, selectors


@pytest.mark.parametrize("selectors", PALE_IN_SUPERSET)
def test_pale_text_of_superset_has_the_colour_of_the_text_around_it(selectors):
    declarations = next((each for key, each in RULES.items() if key.strip() == selectors), "")
    assert "color: inherit;" in declarations, "Superset's grey has a contrast below 2"


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_links_are_readable(theme):
    base = f"_THEME_{theme}"
    link = re.search(rf'= _theme\({base}, .*link="(#\w{{6}})"\)', CONFIGURATION)[1]
    for background in BACKGROUNDS[theme]:
        assert contrast(link, background) >= LEAST_OF_TEXT, background


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_colours_of_charts_are_distinguishable_from_the_background(theme):
    palette = re.search(r'"id": "tailrace".*?"colors": \[(.*?)\]', CONFIGURATION, re.DOTALL)[1]
    pale = {
        colour
        for colour in re.findall(r'"(#\w{6})"', palette)
        for background in BACKGROUNDS[theme]
        if contrast(colour, background) < LEAST_OF_GRAPHICS
    }
    assert pale == (PALE_GRAPHICS if theme == "LIGHT" else set())
