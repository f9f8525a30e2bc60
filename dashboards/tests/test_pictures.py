"""Tests that pictures for the documentation become smaller, keep their contents, and have a program."""

import re
from pathlib import Path

import pytest
from loaded_assets import of_kind
from PIL import Image, ImageChops

from dashboards import gallery, pictures, screenshots
from dashboards.tests import pages

PICTURES = sorted(screenshots.IMAGES.glob("*.png"))
GALLERY_BYTES = 12_000_000

DARK, WHITE, LIGHT_BLUE, RED = (20, 25, 29), (232, 237, 241), (120, 190, 240), (255, 114, 102)
BLUE, ORANGE, GREY = (0, 114, 178), (230, 159, 0), (140, 140, 140)


def test_a_picture_keeps_its_size_and_colours_and_loses_bytes(tmp_path):
    drawn = Image.effect_noise((600, 400), 8).convert("RGB")
    for number, colour in enumerate((BLUE, ORANGE, GREY)):
        drawn.paste(colour, (100 * number, 0, 100 * number + 90, 300))
    file = tmp_path / "chart.png"
    drawn.save(file)
    before = file.stat().st_size
    pictures.shrink(file)

    with Image.open(file) as small:
        assert small.size == drawn.size
        assert small.mode == "P"
        shown = small.convert("RGB")
    assert file.stat().st_size < before
    assert [shown.getpixel((100 * number + 40, 100)) for number in range(3)] == [BLUE, ORANGE, GREY]
    assert max(high for _, high in ImageChops.difference(shown, drawn).getextrema()) <= 8


def test_the_colour_of_one_word_stays(tmp_path):
    """Edges of letters have shades between background and text; a red word is few pixels of a page."""
    page = Image.new("RGB", (600, 400), DARK)
    for row, text in enumerate((WHITE, LIGHT_BLUE) * 190):
        page.paste(_shades(text, 120), (0, row))
    page.paste(_shades(RED, 20), (0, 385))
    page.paste(RED, (0, 386, 8, 392))
    file = tmp_path / "page.png"
    page.save(file)
    pictures.shrink(file)

    with Image.open(file) as small:
        shown = small.convert("RGB").getpixel((4, 389))
    assert max(abs(one - other) for one, other in zip(shown, RED, strict=True)) <= 10, shown


def _shades(text: tuple[int, int, int], width: int) -> Image.Image:
    """Returns a row of pixels from the background to the text."""
    row = Image.new("RGB", (width, 1))
    for x in range(width):
        row.putpixel(
            (x, 0), tuple(low + (high - low) * x // width for low, high in zip(DARK, text, strict=True))
        )
    return row


def test_empty_rows_below_the_content_are_cut_off():
    image = Image.new("RGB", (600, 400), "white")
    image.paste("black", (300, 50, 500, 100))
    image.paste("blue", (10, 380, 60, 390))
    assert pictures.trimmed(image, pictures.FILTER_BAR).size == (600, 124), "its buttons are no content"
    assert pictures.trimmed(Image.new("RGB", (600, 400), "white"), pictures.FILTER_BAR).size == (600, 400)


@pytest.mark.parametrize(("name", "height"), [("page-setup", 400), ("other-hold", 400), ("accounts", 124)])
def test_a_picture_of_a_work_page_keeps_what_is_on_the_left(tmp_path, name, height):
    image = Image.new("RGB", (600, 400), "white")
    image.paste("black", (300, 50, 500, 100))
    image.paste("blue", (10, 380, 60, 390))
    file = tmp_path / f"{name}.png"
    image.save(file)
    pictures.shrink(file)
    with Image.open(file) as kept:
        assert kept.size == (600, height)


def test_pictures_that_stay_too_large_are_not_kept(tmp_path, monkeypatch):
    taken, images = tmp_path / "taken", tmp_path / "images"
    taken.mkdir()
    images.mkdir()
    Image.effect_noise((400, 300), 60).save(taken / "noise.png")
    Image.new("RGB", (400, 300), "white").save(taken / "plain.png")
    monkeypatch.setattr(pictures, "LIMIT", 5_000)
    (message,) = screenshots.keep(taken, images)

    assert message.startswith("noise.png: ")
    assert [each.name for each in images.iterdir()] == ["plain.png"]


@pytest.mark.parametrize("picture", PICTURES, ids=[each.name for each in PICTURES])
def test_a_picture_of_the_documentation_is_small_and_has_a_palette(picture):
    assert 0 < picture.stat().st_size <= pictures.LIMIT, "take it again: make screenshots"
    with Image.open(picture) as image:
        assert image.mode == "P", "only `make screenshots` writes pictures"


def test_the_program_takes_every_picture():
    text = "".join(
        (Path(__file__).parent / name).read_text() for name in ("screenshots.mjs", "pictured_pages.mjs")
    )
    shown = re.findall(r"^  '(page-[a-z]+)': '/tailrace/", text, re.MULTILINE)
    others = re.findall(r"^  '(other-[a-z]+)': '/tailrace/", text, re.MULTILINE)
    (also_dark,) = re.findall(r"^const ALSO_DARK = \[(.+)\];$", text, re.MULTILINE)
    slugs = [dashboard.content["slug"] for dashboard in of_kind("dashboards")]
    dark = {*shown, *re.findall(r"[a-z-]+", also_dark)}
    names = {*slugs, *shown, *others, *(f"{name}-dark" for name in dark)}
    assert {each.stem for each in PICTURES} == names


def test_every_page_of_the_menu_is_taken_in_every_size():
    """`make screenshots-all` takes the pages of PAGES and OTHER_PAGES."""
    text = (Path(__file__).parent / "pictured_pages.mjs").read_text()
    taken = set(re.findall(r"^  '(?:page|other)-[a-z]+': '(/tailrace/[a-z_/]*)", text, re.MULTILINE))
    paths = {route.path.partition("?")[0] for route in pages.ROUTES if route.opens}
    assert len(paths) > 10 and not {path for path in paths if "{" not in path} - taken


def test_the_gallery_has_every_page_in_every_size_and_theme():
    text = (Path(__file__).parent / "pictured_pages.mjs").read_text()
    pages_taken = set(re.findall(r"^  '((?:page|other)-[a-z]+)': '/tailrace/", text, re.MULTILINE))
    slugs = {dashboard.content["slug"] for dashboard in of_kind("dashboards")}
    named = {name for part in gallery.titles().values() for name in part}
    assert named == pages_taken | slugs
    files = [file for file in gallery.GALLERY.glob("*/*") if file.is_file()]
    expected = {(kind, f"{name}.webp") for kind in gallery.KINDS for name in named}
    assert {(file.parent.name, file.name) for file in files} == expected, "make screenshots-all"
    assert sum(file.stat().st_size for file in files) <= GALLERY_BYTES
    for file in files:
        with Image.open(file) as image:
            assert f"{image.width}x{image.height}" == file.parent.name.partition("-")[2], file
    assert gallery.PAGE.read_text() == gallery.page(gallery.titles()), "make screenshots-all"


def test_a_picture_of_the_gallery_has_a_palette_and_is_exact(tmp_path):
    drawn = Image.new("RGB", (600, 400), WHITE)
    for number, colour in enumerate((BLUE, ORANGE, GREY)):
        drawn.paste(colour, (100 * number, 0, 100 * number + 90, 300))
    raw, kept = tmp_path / "raw" / "dark-600x400", tmp_path / "kept"
    raw.mkdir(parents=True)
    drawn.save(raw / "chart.png")
    gallery.keep(tmp_path / "raw", kept)
    file = kept / "dark-600x400" / "chart.webp"
    with Image.open(file) as small:
        assert ImageChops.difference(small.convert("RGB"), drawn).getbbox() is None
    before = file.stat().st_mtime_ns
    gallery.keep(tmp_path / "raw", kept)
    assert file.stat().st_mtime_ns == before, "only new pictures are reduced"


def test_pictures_stay_if_another_one_fails(tmp_path, monkeypatch):
    taken, images, programs = (tmp_path / name for name in ("taken.png", "images", "programs"))
    Image.new("RGB", (600, 400), LIGHT_BLUE).save(taken)
    images.mkdir()
    programs.mkdir()
    node = programs / "node"
    node.write_text(
        f'#!/bin/sh\ncp "{taken}" "$2/page-alerts.png"\necho "session: it is cut off" >&2\nexit 1\n'
    )
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setattr(screenshots, "IMAGES", images)
    monkeypatch.setattr(screenshots.sys, "argv", ["screenshots", "http://127.0.0.1:1", str(tmp_path)])

    with pytest.raises(SystemExit, match="not all pictures"):
        screenshots.main()
    assert [file.name for file in images.iterdir()] == ["page-alerts.png"]
