"""NVTX ranges with and without CUDA.

With CUDA they go through torch.cuda.nvtx. PyTorch for CPUs has no NVTX, so there this module does what NVTX's header
does: it loads the tool that NVTX_INJECTION64_PATH names and calls into the table that the tool fills.
"""

import contextlib
import ctypes
import os

import torch

_CORE = 1  # NVTX_CB_MODULE_CORE
_CALLBACKS = 1  # NVTX_ETID_CALLBACKS
_PUSH, _POP, _SIZE = 9, 11, 16  # places of nvtxRangePushA and nvtxRangePop among the callbacks


class _Injected:
    """The callbacks of an injected tool; every attribute is kept alive because C points to it."""

    def __init__(self, path):
        self.slots = (ctypes.c_void_p * _SIZE)()
        self.table = (ctypes.c_void_p * _SIZE)(
            *[ctypes.addressof(self.slots) + i * ctypes.sizeof(ctypes.c_void_p) for i in range(_SIZE)]
        )
        get_table_type = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint)
        )
        self.get_table = get_table_type(self._get_table)

        class Callbacks(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t), ("get_module_function_table", get_table_type)]

        self.callbacks = Callbacks(ctypes.sizeof(Callbacks), self.get_table)
        get_export_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
        self.get_export = get_export_type(
            lambda which: ctypes.addressof(self.callbacks) if which == _CALLBACKS else None
        )
        tool = ctypes.CDLL(path)
        tool.InitializeInjectionNvtx2.argtypes = [get_export_type]
        tool.InitializeInjectionNvtx2.restype = ctypes.c_int
        if tool.InitializeInjectionNvtx2(self.get_export) == 0 or not self.slots[_PUSH] or not self.slots[_POP]:
            raise OSError(f"{path} takes no NVTX ranges")
        self.push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(self.slots[_PUSH])
        self.pop = ctypes.CFUNCTYPE(ctypes.c_int)(self.slots[_POP])

    def _get_table(self, module, table, size):
        if module != _CORE:
            return 0
        table[0] = ctypes.addressof(self.table)
        size[0] = _SIZE
        return 1


def _functions():
    if torch.cuda.is_available():
        return torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
    path = os.environ.get("NVTX_INJECTION64_PATH", "")
    if path:
        try:
            tool = _Injected(path)
            return lambda name: tool.push(name.encode()), tool.pop
        except (OSError, AttributeError) as error:
            print(f"no NVTX ranges: {error}", flush=True)
    return lambda name: None, lambda: None


_push, _pop = _functions()


@contextlib.contextmanager
def nvtx_range(name):
    _push(name)
    try:
        yield
    finally:
        _pop()
