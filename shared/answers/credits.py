"""The works of others that the examples are made from, named once for every place that shows or ships parts of them.

Pages, `examples/CREDITS.md`, reports, pictures and figures take their credits from here; tests/docs/test_credits.py
checks the cards and the documentation, where they are written by hand.
"""

from __future__ import annotations

import html
from typing import NamedTuple


class Work(NamedTuple):
    """A work with its author and licence; `about` says where it comes from."""

    title: str
    address: str
    author: str
    about: str
    licence: str
    terms: str

    @property
    def short(self) -> str:
        """The credit as text, for pictures."""
        return f"{self.title} by {self.author}, {self.licence}"

    @property
    def markdown(self) -> str:
        """The credit with links, in Markdown."""
        return f"[{self.title}]({self.address}) by {self.author}, [{self.licence}]({self.terms})"

    @property
    def html(self) -> str:
        """The credit with links, in HTML."""
        title, author, licence = (html.escape(text) for text in (self.title, self.author, self.licence))
        return f'<a href="{self.address}">{title}</a> by {author}, <a href="{self.terms}">{licence}</a>'


DIGITS = Work(
    "Optical Recognition of Handwritten Digits",
    "https://doi.org/10.24432/C50P49",
    "E. Alpaydin and C. Kaynak (1998)",
    "UCI Machine Learning Repository; its test set comes with scikit-learn",
    "CC BY 4.0",
    "https://creativecommons.org/licenses/by/4.0/",
)
FLOWER = Work(
    "flower.jpg",
    "https://www.flickr.com/photos/vultilion/6056698931/",
    "vultilion",
    "a photograph on Flickr, which comes with scikit-learn",
    "CC BY 2.0",
    "https://creativecommons.org/licenses/by/2.0/",
)
CHINA = FLOWER._replace(
    title="china.jpg",
    address="https://www.flickr.com/photos/danielbuechele/6061409035/",
    author="danielbuechele",
)


class Origin(NamedTuple):
    """The works that files are made from, and a note on how."""

    note: str
    works: tuple[Work, ...]

    @property
    def html(self) -> str:
        """The note and the credits, for a page; links open in another tab, so the page keeps its data."""
        works = " and ".join(work.html for work in self.works).replace("<a ", '<a target="_blank" rel="noopener" ')
        return f'<p class="origin">{html.escape(self.note)} Made from {works}.</p>'

    @property
    def notice(self) -> str:
        """A CREDITS.md for the folder of the files."""
        credits = "\n".join(f"- {work.markdown}: {work.about}" for work in self.works)
        return f"# Credits\n\nThe files in this folder are made from:\n\n{credits}\n\n{self.note}\n"


TENTH_OF_DIGITS = Origin("A logistic regression trained on a tenth of the digits, tested on the others.", (DIGITS,))
SIX_DIGITS = Origin("A logistic regression trained on digits 0–5, tested on all ten.", (DIGITS,))
PASTED_DIGITS = Origin(
    "Digits on noisy canvases, located by their ink. The detector was trained on 0–5; others are 999.", (DIGITS,)
)
FLOWER_VIEWS = Origin(
    "Views of one photograph, with noise and drawn defects. A map says how far each patch is from those of twelve "
    "good views.",
    (FLOWER,),
)
