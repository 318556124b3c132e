"""Files of torch (.pt), of which nothing is unpickled but tensors and plain containers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from ..extras import extra


def read_torch_file(path: Path, otherwise: str) -> Any:
    """The content of a .pt file, on the CPU. Raises ValueError that says `otherwise` for any other content."""
    with extra("torch"):
        import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError):
        # torch's own messages are long, and advise to switch the safeguard off
        raise ValueError(otherwise) from None
