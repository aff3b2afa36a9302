#!/usr/bin/env python3
"""Tunes the kernels of examples/gallery that are for Hopper, and compares them with PyTorch, which calls cuBLAS and its own
attention. Needs PyTorch and a GPU of compute capability 9.0.

    PYTHONPATH=FOLDER_WITH_tuner bench/against_torch.py [--budget 20] [--only gemm inference attention softmax]

Every row is measured in turns: events around single calls, behind a kernel that keeps the GPU busy, with a cold L2, medians.
Ratios are PyTorch's time over tuner's: above 1 tuner is faster. The results of both are compared before.
"""

import argparse
import math
import pathlib
import statistics

import torch

import tuner

GALLERY = pathlib.Path(__file__).parent.parent / "examples" / "gallery"
ROUNDS = 21
# n and k of the two large products in a layer of Llama 3 with 8 and with 70 billion parameters.
LAYERS = [(28672, 4096), (4096, 14336), (10240, 8192), (8192, 28672)]


def medians(calls, flush):
    """The median time of each call in microseconds."""
    spent = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(ROUNDS):
        for call, times in zip(calls, spent):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(400_000)  # until the host has enqueued all of this
            flush.zero_()
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1000)
    return [statistics.median(times) for times in spent]


def difference(result, expected):
    return ((result.float() - expected.float()).norm() / expected.float().norm()).item()


def gemm(kernels, budget, flush, shapes, types):
    ratios = []
    for name in types:
        kernel = kernels.setdefault(name, tuner.Kernel(str(GALLERY / "tensorGemm.cu"), T=name))
        for m, n, k in shapes:
            a, b = (torch.randn(rows, k, device="cuda", dtype=torch.bfloat16) for rows in (m, n))
            c = torch.empty(m, n, device="cuda", dtype=torch.half if name == "half" else torch.bfloat16)
            if name == "e4m3":
                a, b = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
                one = torch.ones((), device="cuda")
                peer = lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)
            else:
                a, b = a.to(c.dtype), b.to(c.dtype)
                peer = lambda: torch.mm(a, b.t())
            kernel.tune([m, n, k], budget=budget)
            own = lambda: kernel.launch([m, n, k], a, b, c)
            own()
            wrong = difference(c, peer())
            theirs, ours = medians([peer, own], flush)
            ratios.append(theirs / ours)
            rate = 2 * m * n * k / ours / 1e6
            print(f"| {name} {m} x {n} x {k} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.3f} | {rate:.0f} TFLOP/s | {wrong:.1e} |", flush=True)
            print("    " + kernel.explain([m, n, k]).split(";")[0][:200], flush=True)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=20, help="seconds of each tuning")
    parser.add_argument("--only", nargs="+", default=["gemm", "inference", "attention", "softmax"])
    chosen = parser.parse_args()
    budget = f"{chosen.budget}s"
    flush, kernels = torch.empty(1 << 27, dtype=torch.uint8, device="cuda"), {}
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {chosen.budget:g} s of tuning for each row\n")
    print("| problem | tuner, us | PyTorch, us | ratio | rate | difference |\n| --- | --- | --- | --- | --- | --- |")
    if "gemm" in chosen.only:
        gemm(kernels, budget, flush, [(4096,) * 3, (8192,) * 3], ["bfloat16", "half", "e4m3"])
    if "inference" in chosen.only:
        shapes = [(m, n, k) for n, k in LAYERS for m in (16, 64, 256, 1024, 4096, 8192)]
        ratios = gemm(kernels, budget, flush, shapes, ["bfloat16"])
        print(f"geometric mean of {len(ratios)}: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, least {min(ratios):.3f}")
    if "attention" in chosen.only:
        kernel = tuner.Kernel(str(GALLERY / "attention.cu"))
        for batch, heads, n in [(4, 16, 4096), (1, 16, 16384), (8, 32, 1024)]:
            q, k, v = (torch.randn(batch, heads, n, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
            o = torch.empty_like(q)
            kernel.tune([batch * heads, n], budget=budget)
            own = lambda: kernel.launch([batch * heads, n], q, k, v, o, 128**-0.5)
            peer = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)
            own()
            wrong = difference(o, peer())
            theirs, ours = medians([peer, own], flush)
            rate = 4 * batch * heads * n * n * 128 / ours / 1e6
            print(f"| attention {batch} x {heads} x {n} x 128 | {ours:.1f} | {theirs:.1f} | {theirs / ours:.3f} | {rate:.0f} TFLOP/s | {wrong:.1e} |", flush=True)
    if "softmax" in chosen.only:
        kernel = tuner.Kernel(str(GALLERY / "longRowSoftmax.cu"))
        for rows, columns in [(512, 131072), (2048, 32768)]:
            x = torch.randn(rows, columns, device="cuda")
            y, copy = torch.empty_like(x), torch.empty_like(x)
            kernel.tune([rows, columns], budget=budget)
            own = lambda: kernel.launch([rows, columns], x, y)
            peer = lambda: torch.softmax(x, 1)
            own()
            wrong = difference(y, peer())
            theirs, ours, copied = medians([peer, own, lambda: copy.copy_(x)], flush)
            print(f"| softmax {rows} x {columns} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.3f} | a copy takes {copied:.1f} us | {wrong:.1e} |", flush=True)


if __name__ == "__main__":
    main()
