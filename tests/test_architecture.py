"""The house rules: imports go down only, nothing heavy at import, nothing compiled before it is needed."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "explorer"
FORBIDDEN = {
    "engine": ("param", "panel", "holoviews", "bokeh", "panel_material_ui", "explorer.models", "explorer.views"),
    "models": ("panel", "holoviews", "bokeh", "panel_material_ui", "explorer.views"),
}


def imported_names(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("floor", FORBIDDEN)
def test_imports_go_down_only(floor):
    modules = list((PACKAGE / floor).rglob("*.py"))
    assert modules
    for path in modules:
        for name in imported_names(path):
            wrong = [up for up in FORBIDDEN[floor] if name == up or name.startswith(f"{up}.")]
            assert not wrong, f"{path.relative_to(ROOT)} imports {name}"


def run_python(code: str, cwd: Path = ROOT, **environment) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


COUNT = """
import gc, json
from numba.core.ccallback import CFunc
from numba.core.dispatcher import Dispatcher
def count():
    kernels = [thing for thing in gc.get_objects() if issubclass(type(thing), Dispatcher)]
    mine = [d for d in kernels if d.py_func.__module__.startswith("explorer")]
    callbacks = [thing for thing in gc.get_objects() if type(thing) is CFunc]
    return {
        "callbacks": len(callbacks),
        "callbacks_compiled": sum(callback.cache_hits == 0 for callback in callbacks),
        "kernels": len(mine),
        "compiled": sum(len(d.overloads) for d in mine),
        "missed": sum(sum(d.stats.cache_misses.values()) for d in mine),
    }
"""

WORK = """
import explorer as ex
from explorer.engine.inference.likelihood import total_log_likelihood
import numpy as np
one = np.ones(3)
for name in ex.MECHANISMS:
    mech = ex.mechanism(name, 1.0)
    ex.best_interval(1.0, mechanism=name, score="sigma")
    ex.log_likelihood(1.0, 0, 1, -1, 1, 1.0, mechanism=name)
    total_log_likelihood(one, -one, one, one, one, ex.family("normal"), mech)
    total_log_likelihood(one, -one, one, one, one, ex.family("gumbel"), mech)
for name in ex.SAMPLERS:
    ex.simulate(n=6, epsilon=20.0, particles=20, sampler=name, seed=1)
ex.simulate(n=6, family="gumbel", particles=20, sampler="resample_move", seed=1)
y, left, right = np.arange(3.0), -one, 2 * one
ex.batch_posterior(y, left, right, 1.0, iterations=4, seed=1)
from test_simulation import SETTINGS, digest
digests = [digest(ex.simulate(seed=5, **settings)) for settings in SETTINGS]
"""


def test_importing_compiles_nothing_and_stays_light():
    heavy = "[m for m in ('panel', 'holoviews', 'bokeh', 'param', 'pandas', 'scipy.optimize') if m in sys.modules]"
    work = "import sys, explorer; explorer.simulate, explorer.audit, explorer.plan, explorer.Collection"
    out = json.loads(run_python(f"{COUNT}\n{work}\nprint(json.dumps([count(), {heavy}]))"))
    assert out[0]["kernels"] > 10
    assert out[0]["compiled"] == out[0]["callbacks"] == 0
    assert out[1] == []
    engine = "[m for m in ('numpy', 'scipy', 'numba') if m in sys.modules]"
    assert run_python(f"import sys, explorer, explorer.cli; print({engine})") == "[]\n"


def test_a_second_process_does_not_compile_again(tmp_path):
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'tests' / 'engine' / 'run')!r})"
    script = f"{COUNT}\n{path}\n{WORK}\nprint(json.dumps(count() | {{'digests': digests}}))"
    first = json.loads(run_python(script, NUMBA_CACHE_DIR=str(tmp_path)))
    second = json.loads(run_python(script, NUMBA_CACHE_DIR=str(tmp_path)))
    # Machine code fresh from the compiler and from the cache gives the same digits.
    assert first["digests"] == second["digests"]
    assert first["missed"] > 10
    assert second["missed"] == 0
    assert second["compiled"] > 5
    # Four functions each of three families, and the log-density of the paper's release.
    assert first["callbacks_compiled"] == first["callbacks"] == 13
    assert second["callbacks_compiled"] == 0


def test_a_changed_helper_is_compiled_into_its_callers(tmp_path):
    """What is cached beside one file must not outlive a change in another."""
    shutil.copytree(PACKAGE, tmp_path / "explorer", ignore=shutil.ignore_patterns("__pycache__"))
    code = """
import numpy as np, explorer as ex
from explorer.engine.inference.likelihood import total_log_likelihood as total
one = np.ones(1)
print(total(one, -one, one, one, one, ex.family("normal"), ex.mechanism("laplace", 1.0))[0])
"""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    before = float(run_python(code, cwd=tmp_path, **environment))
    helper = tmp_path / "explorer/engine/compute/vector_math.py"
    source = helper.read_text(encoding="utf-8")
    assert "return _half_erfcx(t)" in source
    helper.write_text(source.replace("return _half_erfcx(t)", "return 1.2 * _half_erfcx(t)"), encoding="utf-8")
    assert float(run_python(code, cwd=tmp_path, **environment)) != before


@pytest.fixture
def read_only(tmp_path):
    """``read_only(code)`` runs code where neither the package nor HOME can be written; temporary files can."""
    # Permissions do not stop root. That a file stands where a folder would have to be stops everybody.
    shutil.copytree(PACKAGE, tmp_path / "explorer", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [tmp_path / "explorer", *(path.parent for path in (tmp_path / "explorer").rglob("__init__.py"))]:
        (folder / "__pycache__").touch()
    (tmp_path / "home").touch()
    (tmp_path / "temporary").mkdir()
    home = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(tmp_path / "home"))
    places = home | {"NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(tmp_path)}

    def run(code: str) -> dict:
        script = f"{COUNT}\n{code}\nprint(json.dumps(count() | {{'file': explorer.__file__}}))"
        out = json.loads(run_python(script, cwd=tmp_path, **places))
        assert Path(out["file"]).parent == tmp_path / "explorer"
        return out

    return run


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs a system where folders have owners")
def test_where_nothing_can_be_written_machine_code_is_kept_among_the_temporary_files(read_only, tmp_path):
    first, second = (read_only("import explorer; explorer.best_interval(1.0)") for _ in range(2))
    assert first["missed"] > 0
    assert second["compiled"] > 0
    assert second["missed"] == 0
    (folder,) = (tmp_path / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs a system where folders have owners")
def test_machine_code_is_not_taken_from_a_folder_that_others_can_write(read_only, tmp_path):
    planted = tmp_path / "temporary" / f"explorer-numba-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    out = read_only("import explorer; explorer.mechanism('laplace', 1.0); explorer.log_likelihood(0, 0, 1, -1, 1, 1.0)")
    assert out["compiled"] > 0
    assert list(planted.iterdir()) == []


def test_without_numbas_stamp_nothing_is_cached(monkeypatch):
    """A numba that keeps it elsewhere would give back machine code of an older source."""
    from numba.core import caching

    from explorer.engine.compute import compiled

    assert compiled._cached(test_public_names_exist)._cache._cache_file._source_stamp == compiled._DIGEST
    monkeypatch.setattr(caching, "IndexDataCacheFile", lambda **settings: None)
    kernel = compiled.kernel(lambda x: x + 1.0)
    assert kernel(1.0) == 2.0
    assert kernel.stats.cache_path is None


def test_public_names_exist():
    import explorer as ex

    for name in ex.__all__:
        public = getattr(ex, name)
        if callable(public):
            assert public.__doc__, name
            assert not public.__doc__.startswith("dict("), name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ex.nonsense


def test_nothing_names_this_machine():
    """No absolute path of a machine and no address of another host in what is shipped."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for wrong in ("/home/", "/root/", "/usr/", "C:\\", "http://", "https://"):
            assert wrong not in text, f"{path.relative_to(ROOT)} contains {wrong}"
