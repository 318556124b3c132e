"""The front page: one place to drop files, and a card for each page with the picture and the number of its example."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import gradio as gr

from ...answers.subject import subject_of
from ...loading import METRICS
from .. import html
from . import fits, session, time_limit
from .cards import FOLDER
from .launch import blocks, fill
from .miniature import miniature
from .page import NEWEST, examples
from .session import Held
from .worker import PageError, best_of

KINDS = ".csv .npz .parquet .json · COCO, YOLO, VOC · folders of maps and masks, zipped"


def build_home(*, local: bool = False) -> gr.Blocks:
    """The front page, and for each metric the page that its own app.py shows.

    local: whether the pages are served on the user's own machine; the front page then says so
    """
    with blocks("openworld-metrics") as demo:
        gr.HTML(html.rendered("home", local=local), apply_default_css=False)
        with gr.Column(min_width=0, elem_classes="drop"):
            title = "<b>Drop your files: the page that fits opens</b>"
            gr.HTML(f'<p class="face">{title} <span class="quiet">{KINDS}</span></p>', apply_default_css=False)
            files = gr.File(
                label="Drop your files", show_label=False, file_count="multiple", height=60, elem_id="file0"
            )
            links = gr.HTML("", visible=False, apply_default_css=False)
            have = [
                (words, f"{metric}?{query}" if query else metric)
                for metric, *_ in fits.pages()
                for words, query in subject_of(metric).form.have.items()
            ]
            gr.HTML(html.rendered("have", have=have), apply_default_css=False)
        documents = [(name, f"{FOLDER}/{name}") for name in METRICS]
        cards = html.rendered("cards", cards=[_card(names) for names in fits.pages()], documents=documents)
        gr.HTML(cards, apply_default_css=False)
        files.upload(_opened, files, [files, links], **NEWEST)
        demo.load(time_limit.start, None, None, **NEWEST)
        for name in METRICS:  # `demo.route` does the same, but makes the whole app anew after each page
            demo.pages.append((name, name, True))
            demo.current_page = name
            fill(name, demo, endpoint=f"compute_{name}")
    return demo


def _card(names: list[str]) -> dict[str, Any]:
    """The picture, and the first number of the best model, of the example of a page."""
    subject, answer = subject_of(names[0]), best_of(examples(names[0]))
    number = next(one for one in answer.numbers[answer.model] if one.key in answer.leading)
    return {
        "address": names[0],
        "names": names,
        "picture": miniature(answer),
        "question": subject.question,
        "needs": subject.form.needs,
        "number": number,
        "why": "too few samples for an interval" if answer.why else "",
    }


async def _opened(request: gr.Request, dropped: Any) -> AsyncIterator[Any]:
    """Links that open the pages that fit with the files; an only one opens by itself."""
    paths = [file["path"] for file in dropped or ()]
    if not paths:
        return
    names = ", ".join(Path(path).name for path in paths[:3]) + (" …" if len(paths) > 3 else "")
    yield None, _opens(f"Reading {names} …")
    try:
        fitting = await time_limit.run(request.session_hash or "", fits.fitting, paths)
    except time_limit.SupersededError:
        return
    except PageError as error:
        yield None, _opens(str(error))
        return
    if fitting:
        text = f"{names}: several pages fit. Choose one; it opens with your files." if len(fitting) > 1 else names
        yield None, _opens(text, fitting)
    else:
        every = [
            (metric, inputs)
            for metric, *_ in fits.pages()
            for inputs in [next(fits.arranged(metric, [*map(Path, paths)]), None)]
            if inputs is not None
        ]
        yield None, _opens(f"{names}: no page fits as it is. Choose one, and it says what is missing.", every)


def _opens(text: str, fitting: list[tuple[str, fits.Inputs]] | None = None) -> Any:
    pages = [
        (metric, subject_of(metric).question, f"{metric}#{session.deposit(Held(inputs))}")
        for metric, inputs in fitting or ()
    ]
    return gr.update(value=html.rendered("opens", text=text, pages=pages), visible=True)
