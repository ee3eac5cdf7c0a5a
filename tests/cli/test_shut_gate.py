import pytest

from shoe_controller.cli import main

HEAD = '[table]\nsite="a"\nname="b"\ngame="six-star"\n[shoe]\nprotocol="simulated"\n[panel]\n'


@pytest.mark.parametrize("factory", ["mock", "none"])
def test_the_gate_is_shut_or_there_is_none(tmp_path, factory):
    config = tmp_path / "table.toml"
    config.write_text(f'{HEAD}factory="{factory}"\n')
    assert main(["shut-gate", "--config", str(config)]) == 0


def test_a_gate_that_cannot_be_shut_is_told(tmp_path, capsys):
    config = tmp_path / "table.toml"
    config.write_text(f'{HEAD}factory="lgpio"\n')
    assert main(["shut-gate", "--config", str(config)]) == 1
    assert "GPIO pins cannot be used" in capsys.readouterr().err
