"""Puts the notebooks, which lie beside the package, inside it when a wheel is built; the rest is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent


class BuildWithNotebooks(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # the package is the one in this folder, and finds them beside it
            return
        target = Path(self.build_lib) / "explorer" / "notebooks"
        self.mkpath(str(target))
        for notebook in sorted((HERE / "notebooks").glob("*.ipynb")):
            self.copy_file(str(notebook), str(target / notebook.name))


setup(cmdclass={"build_py": BuildWithNotebooks})
