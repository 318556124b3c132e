"""A visitor who is quicker than the server: an event may carry what the page showed before the last answer came."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from openworld_metrics.pages.form.form import OWN
from openworld_metrics.pages.gallery.choosing import ANSWERS, CLASSES, NO
from tests.served import COMMAND, serve

PATIENCE = 60


class Visitor:
    """What a page shows to a visitor, by the elem_id of its parts, and its events with any values of these."""

    def __init__(self, address: str) -> None:
        self.address, self.session, self.http = address, secrets.token_hex(8), httpx.Client(timeout=PATIENCE)
        config = self.http.get(f"{address}/config").json()
        self.values = {part["id"]: part["props"].get("value") for part in config["components"]}
        self.numbers = {part["props"].get("elem_id"): part["id"] for part in config["components"]}
        self.events = config["dependencies"]

    def forgotten(self) -> None:
        """The server no longer knows what it has shown, as after many other visitors."""
        self.session = secrets.token_hex(8)

    def shows(self, part: str) -> Any:
        return self.values[self.numbers[part]]

    def act(self, part: str, event: str, values: Mapping[str, Any] = {}) -> None:
        """Trigger what `event` of a part asks of the server, with other values of some parts, and take its answer."""
        number = self.numbers[part]
        chain = {e["id"] for e in self.events if [number, event] in e["targets"]}
        for e in self.events:  # some begin in the browser
            chain |= {e["id"]} if e["trigger_after"] in chain else set()
        found = next(e for e in self.events if e["id"] in chain and e["backend_fn"])
        self.values |= {self.numbers[name]: value for name, value in values.items()}
        data = [self.values[i] for i in found["inputs"]]
        body = {"fn_index": found["id"], "session_hash": self.session, "data": data}
        joined = self.http.post(f"{self.address}/gradio_api/queue/join", json=body)
        assert joined.status_code == 200, joined.text
        url = f"{self.address}/gradio_api/queue/data?session_hash={self.session}"
        with self.http.stream("GET", url) as stream:
            answer = next(json.loads(line[6:]) for line in stream.iter_lines() if "process_completed" in line)
        assert answer["success"], answer["output"]
        for i, value in zip(found["outputs"], answer["output"]["data"]):
            updated = isinstance(value, dict) and value.get("__type__") == "update"
            self.values[i] = value.get("value", self.values[i]) if updated else value

    def upload(self, *names_and_contents: tuple[str, bytes]) -> list[dict[str, Any]]:
        """Send files; what a place for files holds of them."""
        files = [("files", one) for one in names_and_contents]
        paths = self.http.post(f"{self.address}/gradio_api/upload", files=files).json()
        return [{"path": path, "meta": {"_type": "gradio.FileData"}} for path in paths]


@pytest.fixture(scope="module")
def gallery(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(COMMAND, tmp_path_factory.mktemp("gallery"), "serve") as address:
        yield address


def csv(*detectors: str) -> bytes:
    rows = [",".join((*detectors, "labels"))]
    rows += [",".join([*(f"{(i * (k + 3)) % 11}.5" for k in range(len(detectors))), str(i % 2)]) for i in range(20)]
    return "\n".join(rows).encode()


EXAMPLE, FILE, NUMBERS = "ood_bench-example", "ood_bench-file0", "ood_bench-numbers"


def test_a_file_comes_before_the_last_one_has_gone(gallery: str) -> None:
    """The server has gone back to an example, and the page still says that the data are one's own."""
    visitor = Visitor(gallery)
    file = visitor.upload(("mine.csv", csv("a")))
    visitor.act(FILE, "upload", {FILE: file})
    assert visitor.shows(EXAMPLE) == OWN
    visitor.act(FILE, "clear", {FILE: None})
    assert visitor.shows(EXAMPLE) != OWN
    visitor.act(FILE, "upload", {FILE: file, EXAMPLE: OWN})
    assert "20 rows, 2 columns" in visitor.shows("ood_bench-read")
    visitor.act("ood_bench-compute", "click")
    assert 'title="' in visitor.shows(NUMBERS)


@pytest.mark.parametrize("forgotten", [False, True], ids=["known", "forgotten"])
def test_a_detector_of_the_data_before_is_chosen(forgotten: bool, gallery: str) -> None:
    """Once other data are computed whose detectors are others, or once the server has forgotten the page."""
    visitor = Visitor(gallery)
    visitor.act(FILE, "upload", {FILE: visitor.upload(("two.csv", csv("one", "two")))})
    visitor.act("ood_bench-compute", "click")
    first = visitor.shows(NUMBERS)
    if forgotten:
        visitor.forgotten()
    else:
        visitor.act(FILE, "upload", {FILE: visitor.upload(("one.csv", csv("other")))})
        visitor.act("ood_bench-compute", "click")
    visitor.act("ood_bench-detector", "input", {"ood_bench-detector": "two"})
    assert 'title="' in visitor.shows(NUMBERS)
    assert visitor.shows(NUMBERS) != first
    assert visitor.shows("ood_bench-told") == ""


@pytest.mark.parametrize("image", [1, 9, 10**6])
def test_an_image_of_the_data_before_is_chosen(image: int, gallery: str) -> None:
    visitor = Visitor(gallery)
    visitor.act("openset_detection-compute", "click")
    visitor.forgotten()
    visitor.act("openset_detection-image", "input", {"openset_detection-image": image})
    assert visitor.shows("openset_detection-plot0")["plot"]
    assert visitor.shows("openset_detection-told") == ""


def test_rows_stay_left_out(gallery: str) -> None:
    """What is left out is known to the page, not to the server."""
    visitor = Visitor(gallery)
    gaps = csv("a").replace(b"\n0.5", b"\n?", 1)
    visitor.act(FILE, "upload", {FILE: visitor.upload(("gaps.csv", gaps))})
    visitor.act("ood_bench-leave", "click")
    visitor.forgotten()
    visitor.act("ood_bench-compute", "click")
    assert "1 of 20 rows" in visitor.shows("ood_bench-compared")


def test_an_answer_to_a_question_that_is_no_longer_asked(gallery: str) -> None:
    visitor = Visitor(gallery)
    says, unknown, sums = "ask-says", "ask-unknown", "ask-sums"
    visitor.act(sums, "input", {says: CLASSES, unknown: NO, sums: next(iter(ANSWERS[CLASSES, NO]))})
    assert visitor.shows("ask-found") == "Open accuracyk"
    for odd in (None, 7, ["Open"]):
        visitor.act(sums, "input", {sums: odd})
