"""Tests that pictures for the documentation become smaller and keep their contents."""

from PIL import Image, ImageChops

from dashboards import pictures

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


def test_empty_rows_below_the_content_are_cut_off():
    image = Image.new("RGB", (600, 400), "white")
    image.paste("black", (300, 50, 500, 100))
    image.paste("blue", (10, 380, 60, 390))
    assert pictures.trimmed(image).size == (600, 124), "the buttons of the filter bar are no content"
    assert pictures.trimmed(Image.new("RGB", (600, 400), "white")).size == (600, 400)
