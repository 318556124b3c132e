"""Files of torch (.pt), of which nothing is unpickled but tensors and plain containers."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..extras import extra
from .reasons import out_of_memory


def read_torch_file(path: Path, otherwise: str) -> Any:
    """The content of a .pt file, on the CPU. Raises ValueError that says `otherwise` for any other content.

    Raises ValueError too for tensors that NumPy cannot have, such as sparse ones, and MemoryError if they do not fit.
    """
    with extra("torch"):
        import torch

    def check(part: Any) -> None:
        if isinstance(part, torch.Tensor):
            kinds = {"meta": part.is_meta, "quantized": part.is_quantized, "nested": part.is_nested}
            kinds["sparse"] = part.layout != torch.strided
            if any(kinds.values()):
                raise ValueError(f"expected plain tensors, got a {max(kinds, key=lambda kind: kinds[kind])} one")
        elif isinstance(part, (Mapping, list, tuple)):
            for item in part.values() if isinstance(part, Mapping) else part:
                check(item)

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        if out_of_memory(error):
            raise MemoryError from error
        # torch's own messages are long, and advise to switch the safeguard off
        raise ValueError(otherwise) from None
    check(content)
    return content
