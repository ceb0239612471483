"""The paper's experiments as one command, in small."""

import re

import numpy as np
import pandas as pd
import pytest

from explorer.cli import main
from explorer.studies import reproduction


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduction, "N", 60)
    monkeypatch.setattr(reproduction, "QUICK", (2, 60))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_figures_tables_and_a_page(small, capsys, monkeypatch):
    assert main(["reproduce", "--quick", "--workers", "1"]) == 0
    assert "SMC-non-adaptive" in capsys.readouterr().out
    folder = small / "reproduction"
    for name in ("figure2", "figure3", "mechanisms"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        page = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert not re.search(r"<(script|link)[^>]+(src|href)=", page), "nothing is fetched from elsewhere"
    table, found = pd.read_parquet(folder / "replicates.parquet"), pd.read_csv(folder / "table.csv")
    assert len(table) == 2 * 4 * 5
    assert set(found["name"]) >= {"SMC-adaptive", "SMC-non-adaptive", "MCMC (MHAAR)", "adaptive, piecewise"}
    for row in found.itertuples():
        error = table.query("name == @row.name and epsilon == @row.epsilon").eval("mu - true_mu")
        assert row.mu_rmse == pytest.approx(np.sqrt(np.mean(error**2)))
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "The exact optimum is ±0.2234 with F[μ,μ] = 0.2860" in page
    assert "really √2·ε-private" not in page
    kept = {path: path.stat().st_mtime_ns for path in (folder / "replicates").iterdir()}
    monkeypatch.setattr(reproduction.paper_figures, "save", lambda *arguments: None)
    assert main(["reproduce", "--quick", "--workers", "1"]) == 0
    assert {path: path.stat().st_mtime_ns for path in (folder / "replicates").iterdir()} == kept


def test_as_coded_is_labelled_with_what_it_gives(small, capsys, monkeypatch):
    monkeypatch.setattr(reproduction.paper_figures, "save", lambda *arguments: None)  # seen in the other test
    assert main(["reproduce", "--quick", "--as-coded", "--workers", "1"]) == 0
    assert "1 (given 1.41)" in capsys.readouterr().out
    folder = small / "reproduction-as-coded"
    assert "really √2·ε-private" in (folder / "index.html").read_text(encoding="utf-8")
    table = pd.read_parquet(folder / "replicates.parquet")
    assert table["error"].isna().all()
    assert set(table["sampler"]) == {"resample_move", "mhaar"}
    np.testing.assert_allclose(table["real_epsilon"], np.sqrt(2) * table["epsilon"])
