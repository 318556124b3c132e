from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

To = Callable[[Any], Any]


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def to_cuda(request: pytest.FixtureRequest) -> Iterator[To]:
    """Send a CPU tensor to a CUDA device, real or emulated; without torch, the test is skipped."""
    torch = pytest.importorskip("torch")
    if request.param == "cuda":
        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")
        yield lambda tensor: tensor.to("cuda")
    else:
        from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

        with EmulatedCuda():
            yield EmulatedCudaTensor
