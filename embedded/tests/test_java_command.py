"""What the launcher tells the JVM."""

from tailrace.commands import java


def test_compressed_files_count_as_what_they_unfold_to(tmp_path):
    plain, packed = tmp_path / "slow.log", tmp_path / "slow.log.1.zst"
    plain.write_bytes(b"x" * 1000)
    packed.write_bytes(b"x" * 10)
    assert java._input_bytes(["digest", str(plain), str(packed)]) == 1000 + 10 * java.COMPRESSION


def test_words_that_are_no_files_count_nothing(tmp_path):
    too_long_for_a_name = "user=app and " * 1000
    assert java._input_bytes(["--filter", too_long_for_a_name, "-", str(tmp_path)]) == 0
