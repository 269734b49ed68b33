#!/usr/bin/env python3
"""Turns CUDA sources into C++ for emulated_device.h: kernel<<<grid, threads, 0, stream>>>(...) becomes a call.

usage: translate.py SOURCE.cu OUT.cpp
"""
import re
import sys

LAUNCH = re.compile(r"([A-Za-z_]\w*(?:<[^<>;()]*(?:\([^()]*\)[^<>;()]*)?>)?)\s*<<<(.*?)>>>\s*\(", re.S)
EXTERN_SHARED = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")
WAITS = ("__syncthreads", "__shfl", "block_sum", "block_max", "warp_sum", "part_of_row", "whole_row", "best_of_row")


def waiting_kernels(text):
    """Kernels whose threads wait for each other; a function pointer (`kernel`) may be any of them."""
    found = {"kernel"}
    parts = re.split(r"__global__ void\s+(?:__launch_bounds__\([^()]*\)\s+)?", text)
    for part in parts[1:]:
        body = part.split("\n}\n", 1)[0]
        if any(word in body for word in WAITS):
            found.add(re.match(r"\w+", part).group(0))
    return found


def main(source, out):
    with open(source) as file:
        text = file.read()
    waiting = waiting_kernels(text)

    def call(match):
        name = match.group(1)
        waits = "true" if name.split("<")[0] in waiting else "false"
        # Called by name, so that arguments choose among a template's kernels as they do in CUDA.
        kernel = f"[=](auto... arguments) {{ {name}(arguments...); }}"
        return f"emulated_launch({kernel}, {match.group(2)}, {waits})("

    text = LAUNCH.sub(call, text)
    text = EXTERN_SHARED.sub(r"auto* \2 = static_cast<\1*>(emulated_shared_memory());", text)
    text = text.replace('asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));', "now = emulated_nanoseconds();")
    with open(out, "w") as file:
        file.write('#include "tests/probes/cuda/emulation/emulated_device.h"\n' + f'#line 1 "{source}"\n' + text)


main(*sys.argv[1:])
