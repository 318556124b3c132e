"""The parts of a build that setup.cfg cannot express: the description for the package index, and a wheel's kernels."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PICTURE = re.compile(r"^(?:!\[[^]]*\]\((?!https?:)[^)]*\)|<picture>(?s:.*?)</picture>)\n\n", re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\((?!https?:)[^)]*\)")
KERNEL = '''"""The names that the script beside this file imports, from the package with which it is installed."""

from openworld_metrics.metric.evaluate_adapter import Evaluated
from openworld_metrics.public import *
'''


class BuildWithoutKernels(build_py):
    """A folder that stands alone, as in a checkout or a Space, has a kernel of its own; one in a wheel need not."""

    def run(self):
        """Build all files, and replace the kernels, unless the checkout itself is installed."""
        if not self.editable_mode:  # modules of an earlier build, which the checkout no longer has
            shutil.rmtree(Path(self.build_lib) / "openworld_metrics", ignore_errors=True)
        super().run()
        if not self.editable_mode:
            for kernel in Path(self.build_lib).glob("openworld_metrics/metrics/*/_kernel.py"):
                kernel.unlink()  # it may be a link
                kernel.write_text(KERNEL, encoding="utf-8")
                kernel.with_name("tests.py").unlink()


readme = (Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8")
setup(long_description=LINK.sub(r"\1", PICTURE.sub("", readme)), cmdclass={"build_py": BuildWithoutKernels})
