"""Contrasts of the colours in style.css and superset_config.py (WCAG 2.2 AA), computed without a browser.

test_dashboards_axe.py examines the pages, which contain the colours of Superset, too.
"""

import ast
import math
import re
from itertools import combinations

import pytest
import yaml

from tailrace.config.resources import REPOSITORY
from tailrace_pages import formats

STYLE = re.sub(r"/\*.*?\*/", "", (REPOSITORY / "dashboards/style.css").read_text(), flags=re.DOTALL)
DASHBOARDS = [
    yaml.safe_load(path.read_text()) for path in (REPOSITORY / "dashboards/dashboards").glob("*.yaml")
]
DASHBOARDS = [{"metadata": {}, **each} for each in DASHBOARDS]
CONFIGURATION = (REPOSITORY / "embedded/superset/superset_config.py").read_text()
RULES = dict(re.findall(r"([^{}]+)\{([^{}]*)\}", STYLE))
"""Declarations by selectors."""

LEAST_OF_TEXT, LEAST_OF_GRAPHICS = 4.5, 3.0
BACKGROUNDS = {"LIGHT": ("#FFFFFF",), "DARK": ("#000000", "#141414")}
"""Backgrounds of pages and charts, by theme. #141414 has the lower contrast to light text."""
TEXT_OPACITY = 0.85
"""Opacity of the black or white text of Superset's dark theme; the light theme has 0.88."""
PALE_IN_SUPERSET = (".ant-select .ant-select-selection-placeholder", ".dashboard table td.dt-is-null")


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
        own = re.findall(r"background-color: (#\w+)", declarations)
        for colour in re.findall(r"(?<!-)color: (?!inherit)(#\w+|[^;]+)", declarations):
            for background in own or sum(BACKGROUNDS.values(), ()):
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


PALETTE = re.findall(
    r'"(#\w{6})"', re.search(r'"id": "tailrace".*?"colors": \[(.*?)\]', CONFIGURATION, re.DOTALL)[1]
)
PAGES = (REPOSITORY / "embedded/superset/tailrace_pages/static/pages.css").read_text()
LIGHT_PAGES, DARK_PAGES = PAGES.split("@media (prefers-color-scheme: dark)", 1)
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Simulations in linear RGB, with complete colour blindness (Machado, Oliveira and Fernandes, 2009)."""
LEAST_DIFFERENCE = 0.07
"""Between two colours in OKLab, in which black and white differ by 1."""
MOST_DEGREES = 10
"""Between the hue of a severity in texts and that of its colour in charts."""


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def oklab(colour: str, vision: str = "normal") -> list[float]:
    """Returns lightness and two axes of colour as a person with this vision sees them (Ottosson, 2020)."""
    seen = times(VISION[vision], [linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5)])
    cones = times(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        [max(0, each) for each in seen],
    )
    return times(
        (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        ),
        [max(0, each) ** (1 / 3) for each in cones],
    )


def hue(colour: str) -> float:
    """Returns the hue in degrees."""
    _, red_green, yellow_blue = oklab(colour)
    return math.degrees(math.atan2(yellow_blue, red_green)) % 360


def colours_of(style: str, names: str) -> dict[str, str]:
    return {name: each.upper() for name, each in re.findall(rf"--({names}): (#\w{{6}})", style)}


def test_colours_of_charts_are_distinguishable_from_every_background():
    grounds = {colours_of(style, "ground")["ground"] for style in (LIGHT_PAGES, DARK_PAGES)}
    for colour in PALETTE:
        for background in {*sum(BACKGROUNDS.values(), ()), *grounds}:
            assert contrast(colour, background) >= LEAST_OF_GRAPHICS, (colour, background)


@pytest.mark.parametrize("vision", VISION)
def test_colours_of_charts_are_distinguishable_from_each_other(vision):
    assert len(PALETTE) == 8
    for one, other in combinations(PALETTE, 2):
        difference = math.dist(oklab(one, vision), oklab(other, vision))
        assert difference >= LEAST_DIFFERENCE, (one, other, round(difference, 3))


FLOWS = ast.literal_eval(re.search(r"^_FLOWS = (\{.*?^\})", CONFIGURATION, re.DOTALL | re.MULTILINE)[1])
LEAST_OF_FLOWS = 1.8
"""Of areas that cross each other, so that they cannot be opaque. Superset draws them with 1.14 in the dark
theme. The nodes at their ends have LEAST_OF_GRAPHICS, and labels."""


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_flows_are_visible(theme):
    """A flow of one action in a thousand is as wide as its border."""
    line = FLOWS["lineStyle"]
    assert line["borderWidth"] >= 1
    for colour in (*PALETTE, line["borderColor"]):
        for background in BACKGROUNDS[theme]:
            assert contrast(blended(colour, background, line["opacity"]), background) >= LEAST_OF_FLOWS, (
                colour
            )
    assert FLOWS["emphasis"]["lineStyle"]["opacity"] > line["opacity"], "under the pointer"


def test_work_pages_have_the_same_colours():
    series = list(colours_of(LIGHT_PAGES, r"series-\d").values())
    assert series == PALETTE[: len(series)] and len(series) == 6
    assert not colours_of(DARK_PAGES, r"series-\d"), "they suit both themes"


def severities() -> dict[str, str]:
    """Returns the colours of levels, which all dashboards have in common."""
    found = [each["metadata"].get("label_colors", {}) for each in DASHBOARDS]
    shown = [{level: each[level].upper() for level in formats.LEVELS} for each in found if "critical" in each]
    assert shown and all(each == shown[0] for each in shown)
    return shown[0]


def test_severities_have_the_same_colours_everywhere():
    for style in (LIGHT_PAGES, DARK_PAGES):
        grounds = colours_of(style, "ground|panel").values()
        texts = colours_of(style, "|".join(formats.LEVELS))
        for level, colour in severities().items():
            assert min(contrast(texts[level], ground) for ground in grounds) >= LEAST_OF_TEXT, level
            if level != "informational":  # a grey has no hue
                assert abs(hue(texts[level]) - hue(colour)) <= MOST_DEGREES, level
