"""A way to run the command, and registers as files."""

import pytest

from shoe_controller.cli import main


@pytest.fixture
def cli(capsys, tmp_path):
    """Run a command; return exit code, standard output and standard error."""

    def cli(*words):
        try:
            code = main([str(word) for word in words])
        except SystemExit as wrong_use:
            code = wrong_use.code
        heard = capsys.readouterr()
        return code, heard.out, heard.err

    return cli


@pytest.fixture
def write_csv(tmp_path):
    def write_csv(cards, name="set.csv"):
        path = tmp_path / name
        path.write_text("uid,code\n" + "".join(f"{uid.hex()},{code}\n" for uid, code in cards))
        return path

    return write_csv
