"""Read torch files (.pt); only tensors and plain containers are unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ..extras import extra
from .reasons import out_of_memory

_SAFE = (2, 6)
_FEW = 1 << 20  # numbers that a file of any size may repeat, such as labels that images share


def read_torch_file(path: Path, otherwise: str) -> Any:
    """The content of a .pt file, on the CPU. Raises ValueError with the message `otherwise` for any other content.

    Raises ValueError also for tensors that NumPy does not support, such as sparse ones, and for a small file of many
    numbers: expanded tensors, or lists that hold one another. Raises MemoryError if the tensors do not fit into memory,
    OSError for a missing file.
    """
    with extra("torch"):
        torch = import_module("torch")  # by name, since Spaces do without it
    if tuple(map(int, torch.__version__.split(".")[:2])) < _SAFE:
        raise ImportError(
            "expected torch 2.6 or newer, since older versions may run code from a .pt file (CVE-2025-32434), "
            f"got {torch.__version__}: pip install -U torch"
        )

    with path.open("rb") as file:
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises errors of many types for damaged files
            if out_of_memory(error):
                raise MemoryError from error
            # torch's own messages are long, and suggest disabling the safeguard
            raise ValueError(otherwise) from None
    size = path.stat().st_size
    most = max(size, _FEW)
    numbers, parts = 0, [content]
    while parts:
        part = parts.pop()
        numbers += 1
        if isinstance(part, torch.Tensor):
            kinds = {"meta": part.is_meta, "quantized": part.is_quantized, "nested": part.is_nested}
            kinds["sparse"] = part.layout != torch.strided
            if any(kinds.values()):
                raise ValueError(f"expected plain tensors, got a {max(kinds, key=lambda kind: kinds[kind])} one")
            numbers += part.numel()
        elif isinstance(part, (Mapping, list, tuple)):
            parts.extend(part.values() if isinstance(part, Mapping) else part)
        if numbers > most:
            raise ValueError(f"expected at most {most} numbers in a file of {size} bytes, got repeated numbers")
    return content
