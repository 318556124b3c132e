"""The description for the package index: the README without its picture and its links into the repository."""

import re
from pathlib import Path

from setuptools import setup

PICTURE = re.compile(r"^!\[[^]]*\]\((?!https?:)[^)]*\)\n\n", re.MULTILINE)
LINK = re.compile(r"\[([^]]*)\]\((?!https?:)[^)]*\)")

readme = (Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8")
setup(long_description=LINK.sub(r"\1", PICTURE.sub("", readme)))
