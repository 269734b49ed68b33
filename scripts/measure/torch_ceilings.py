#!/usr/bin/env python3
"""What PyTorch reaches on GPU 0: the best matrix product of the sizes that sextant probe measures, and its copy.

Writes one JSON object: {"torch": ..., "gemm": {"bf16": {"8192": flop/s, ...}, ...}, "best_gemm": {...},
"copy_bytes_per_s": {"torch_copy": ..., "cudaMemcpy": ...}, "sm_clock_mhz": ...}.
Each number is the median of samples of at least 5 ms, after 0.1 s of warm-up, by events of the device; data is
uniform in [-1, 1) as the probe's. A size that fails is left out and its reason kept under "failed".
"""
import argparse
import ctypes
import json
import statistics
import time

import torch

SQUARES = [4096, 8192, 16384]
OTHERS = [(8192, 28672, 8192), (16384, 8192, 8192)]  # m, n, k; B stored as [n x k]
FP32_SQUARES = [4096, 8192]
LEAST_SAMPLE_S = 5e-3
WARM_UP_S = 0.1
COPY_BYTES = 1 << 30


def median_s(run, budget_s):
    """Seconds of one run()."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def sample(repeats):
        start.record()
        for _ in range(repeats):
            run()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) * 1e-3 / repeats

    sample(1)
    once_s = sample(1)
    repeats = max(1, int(LEAST_SAMPLE_S / once_s) + 1)
    until = time.monotonic() + WARM_UP_S
    while time.monotonic() < until:
        sample(repeats)
    samples = []
    until = time.monotonic() + budget_s
    while len(samples) < 8 or time.monotonic() < until:
        samples.append(sample(repeats))
        if len(samples) >= 8 and time.monotonic() > until:
            break
    return statistics.median(samples)


def uniform(rows, columns, dtype):
    return (torch.rand(rows, columns, device="cuda", dtype=torch.float32) * 2 - 1).to(dtype)


def gemm_rates(precision, budget_s, failed):
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    rates = {}
    shapes = [(s, s, s) for s in (FP32_SQUARES if precision == "fp32" else SQUARES)]
    shapes += [] if precision == "fp32" else OTHERS
    for m, n, k in shapes:
        square = m == n == k
        for transposed in (False, True) if square else (True,):
            name = (str(m) if square else f"{m}x{n}x{k}") + ("_nt" if transposed else "")
            try:
                a = uniform(m, k, dtype)
                b = uniform(n, k, dtype).t() if transposed else uniform(k, n, dtype)
                out = torch.empty(m, n, device="cuda", dtype=dtype)
                rates[name] = 2.0 * m * n * k / median_s(lambda: torch.matmul(a, b, out=out), budget_s)
            except RuntimeError as error:
                failed[f"gemm/{precision}/{name}"] = str(error).splitlines()[0]
            a = b = out = None
            torch.cuda.empty_cache()
    return rates


def find_cudart():
    """The runtime that PyTorch has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if "libcudart" in line:
                return ctypes.CDLL(line.split()[-1])
    return None


def copy_rates(budget_s, failed):
    source = torch.randint(-(2**31), 2**31 - 1, (COPY_BYTES // 4,), device="cuda", dtype=torch.int32)
    target = torch.empty_like(source)
    rates = {"torch_copy": 2.0 * COPY_BYTES / median_s(lambda: target.copy_(source), budget_s)}
    cudart = find_cudart()
    if cudart is None:
        failed["cudaMemcpy"] = "libcudart is not among the libraries loaded"
        return rates
    memcpy = cudart.cudaMemcpyAsync
    memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    stream = torch.cuda.current_stream().cuda_stream

    def run():
        if memcpy(target.data_ptr(), source.data_ptr(), COPY_BYTES, 3, stream) != 0:
            raise RuntimeError("cudaMemcpyAsync failed")

    rates["cudaMemcpy"] = 2.0 * COPY_BYTES / median_s(run, budget_s)
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=0.25, help="seconds of samples for each point")
    parser.add_argument("--out", required=True)
    parser.add_argument("precisions", nargs="*", default=["bf16", "fp16", "tf32", "fp32"])
    options = parser.parse_args()
    started, failed = time.monotonic(), {}
    torch.manual_seed(0)
    copies = copy_rates(options.budget, failed)
    torch.cuda.empty_cache()
    gemm = {precision: gemm_rates(precision, options.budget, failed) for precision in options.precisions}
    result = {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "gpu": torch.cuda.get_device_name(0),
        "gemm": gemm,
        "best_gemm": {precision: max(rates.values()) for precision, rates in gemm.items() if rates},
        "copy_bytes_per_s": copies,
        "failed": failed,
        "took_s": round(time.monotonic() - started, 1),
    }
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
        file.write("\n")
    print(f"PyTorch {torch.__version__}: " + ", ".join(f"{p} {r / 1e12:.1f} TFLOP/s" for p, r in
          result["best_gemm"].items()) + f", copy {max(copies.values()) / 1e12:.3f} TB/s, {result['took_s']} s")


if __name__ == "__main__":
    main()
