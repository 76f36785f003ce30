"""The benchmark of `--help` starts what it says and gives the contract's figures; nothing here compares times."""

from __future__ import annotations

import json

import pytest

from benchmarks import help as benchmark


def test_it_gives_the_ratio_of_two_real_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--turns", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    ours = found["figures"]["help.seconds"]["value"]
    floor = found["beside"]["help.seconds.import_typer"]["value"]
    ratio = found["figures"]["help.over_typer"]
    assert (ratio["n"], ratio["unit"]) == (1, "times")
    # Figures are rounded on their way out.
    assert ratio["value"] == pytest.approx(ours / floor, rel=0.05)


def test_no_turn_is_refused() -> None:
    with pytest.raises(SystemExit, match="2"):
        benchmark.main(["--turns", "0"])
