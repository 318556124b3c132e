"""Tensors that behave as those of a CUDA device do, on a machine without one.

Such a tensor says that it lives on cuda:0, holds its numbers in a tensor of the CPU, and computes with others of its
kind only: what a device refuses (mixing it with CPU tensors, a view as a NumPy array) is refused here too. So the
lines that a kernel takes for tensors on a device can be run anywhere, and what they bring to the CPU can be counted.

This proves placement: where the numbers are, and which of them leave the device. It proves nothing of a device's
speed, and little of its arithmetic, which is the CPU's here, but for one operation: CUDA divides by a plain number by
multiplying by its rounded inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DEVICE, CPU = torch.device("cuda:0"), torch.device("cpu")
DEVICES = {"cpu": CPU, "cuda": DEVICE, "cuda:0": DEVICE}
COPY_BETWEEN_DEVICES = {torch.Tensor.copy_, torch.Tensor.__setitem__}
TO_CPU = {torch.Tensor.cpu, torch.Tensor.__reduce_ex__}  # pickling is a copy too
UNSIGNED = {torch.uint16, torch.uint32, torch.uint64}
VIEWS_AS_ARRAYS = {torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.__dlpack__}
FROM_NUMBERS = {torch.tensor, torch.as_tensor, torch.asarray}
DIVISIONS = {
    torch.Tensor.__truediv__,
    torch.Tensor.div,
    torch.Tensor.divide,
    torch.div,
    torch.divide,
    torch.true_divide,
}
# what is known of a tensor without looking at its numbers; all else that is no tensor has been read from the device
# fmt: off
METADATA = {
    "__dlpack_device__", "__hash__", "__len__", "can_cast", "data_ptr", "dim", "element_size", "get_device",
    "is_complex", "is_contiguous", "is_floating_point", "is_same_size", "is_signed", "nelement", "ndimension", "numel",
    "result_type", "size", "storage_offset", "stride", "type",
}
# fmt: on


class EmulatedCudaTensor(torch.Tensor):
    """A tensor that says it is on cuda:0; `held` has its numbers."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> EmulatedCudaTensor:
        make: Any = torch.Tensor._make_wrapper_subclass
        tensor: EmulatedCudaTensor = make(cls, held.shape, strides=held.stride(), dtype=held.dtype, device=DEVICE)
        tensor.held = held
        return tensor

    def __repr__(self, **_: Any) -> str:
        return f"EmulatedCudaTensor({self.held})"

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{operation}: enter EmulatedCuda() to compute with emulated tensors")


class EmulatedCuda(TorchFunctionMode):
    """While it is entered, torch computes with emulated tensors, and makes them where cuda:0 is asked for.

    `transferred` is how many numbers have come to the CPU: the elements of tensors that were copied there, and every
    Python number that was read, by item(), float(), bool(), an index, tolist() or any other way.
    """

    transferred = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = mapped(lambda x: DEVICES.get(x, x) if isinstance(x, str) else x, (args, kwargs or {}))
        values = list(leaves((args, kwargs)))
        emulated = [x for x in values if isinstance(x, EmulatedCudaTensor)]
        devices = {x for x in values if isinstance(x, torch.device)}
        is_attribute = function.__name__ == "__get__"
        if is_attribute or not (emulated or DEVICE in devices):
            return function(*args, **kwargs)
        if function in VIEWS_AS_ARRAYS:
            raise TypeError(f"can't convert {DEVICE} device type tensor to numpy")
        on_cpu = [x for x in values if isinstance(x, torch.Tensor) and not isinstance(x, EmulatedCudaTensor)]
        # a device takes CPU tensors of no dimension as scalars
        if emulated and any(x.ndim for x in on_cpu) and function not in COPY_BETWEEN_DEVICES:
            raise RuntimeError(f"Expected all tensors to be on the same device, but got {DEVICE} and cpu: {function}")
        if function is torch.Tensor.__getitem__ and emulated[0].dtype in UNSIGNED and isinstance(args[1], torch.Tensor):
            raise NotImplementedError(f'"index_cuda" not implemented for {emulated[0].dtype}')
        reads_each = function in FROM_NUMBERS and isinstance(args[0], (list, tuple))
        to_cpu = function in TO_CPU or CPU in devices or (reads_each and DEVICE not in devices)
        to_cpu |= function in COPY_BETWEEN_DEVICES and not isinstance(args[0], EmulatedCudaTensor)
        if to_cpu or reads_each:
            self.transferred += sum(x.numel() for x in emulated)
        args, kwargs = mapped(as_held, (args, kwargs))
        if function in DIVISIONS and len(args) == 2 and (not isinstance(args[1], torch.Tensor) or on_cpu):
            function, args = torch.mul, (args[0], 1 / args[1])
        returned = function(*args, **kwargs)
        if function.__name__ not in METADATA:
            self.transferred += sum(isinstance(x, (bool, int, float, complex, str)) for x in leaves(returned))
        if to_cpu:
            return returned
        same = {id(x.held): x for x in emulated}  # in-place functions return what they were given

        def emulate(x: Any) -> Any:
            if not isinstance(x, torch.Tensor):
                return x
            return same[id(x)] if id(x) in same else EmulatedCudaTensor(x)

        return mapped(emulate, returned)


def as_held(x: Any) -> Any:
    """The numbers of an emulated tensor, and the CPU in place of a device."""
    return CPU if isinstance(x, torch.device) else x.held if isinstance(x, EmulatedCudaTensor) else x


def leaves(tree: Any) -> Iterator[Any]:
    """What lists, tuples and dicts hold, at any depth; a torch.Size is one thing."""
    if isinstance(tree, (list, tuple)) and type(tree) is not torch.Size:
        for part in tree:
            yield from leaves(part)
    elif isinstance(tree, dict):
        yield from leaves([*tree.values()])
    else:
        yield tree


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same lists, tuples and dicts of what a function gives for each of their `leaves`."""
    if isinstance(tree, (list, tuple)) and type(tree) is not torch.Size:
        return type(tree)([mapped(function, part) for part in tree])  # torch's named tuples take a list, too
    if isinstance(tree, dict):
        return {key: mapped(function, part) for key, part in tree.items()}
    return function(tree)
