"""The package on a GPU, with arrays of PyTorch and CuPy: results, streams, graphs and threads. Skips what is not installed.

    PYTHONPATH=FOLDER_WITH_tuner python3 tests/python/test_gpu.py
"""

import os
import tempfile
import threading
import unittest

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TUNER_CACHE_DIR=FOLDER.name, TUNER_TUNE="never")

import tuner  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

has_torch = torch is not None and torch.cuda.is_available()


@unittest.skipUnless(has_torch, "there is no PyTorch with a GPU")
class Torch(unittest.TestCase):
    def test_results_are_new_tensors_on_the_device(self):
        for kind, result in ((torch.float32, torch.float32), (torch.float64, torch.float64), (torch.float16, torch.float32),
                             (torch.bfloat16, torch.float32), (torch.int8, torch.int64), (torch.int64, torch.int64)):
            x = torch.randint(-4, 5, (3, 1001), device="cuda").to(kind)
            total = tuner.reduce(x)
            self.assertEqual((total.dtype, total.device, total.shape), (result, x.device, torch.Size([])))
            self.assertEqual(total.item(), x.double().sum().item())
            self.assertEqual(tuner.reduce(x, "max").item(), x.max().item())

    def test_the_current_stream_is_used(self):
        x = torch.zeros(1 << 20, device="cuda")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for value in range(1, 20):
                torch.cuda._sleep(200_000)
                x.fill_(value)
                total = tuner.reduce(x)
                self.assertEqual(total.item(), value * x.numel())

    def test_a_stream_can_be_given(self):
        x, stream = torch.zeros(1 << 20, device="cuda"), torch.cuda.Stream()
        torch.cuda.synchronize()
        out = torch.empty((), device="cuda")
        with torch.cuda.stream(stream):
            torch.cuda._sleep(2_000_000)
            x.fill_(3)
        tuner.reduce(x, out=out, stream=stream)
        stream.synchronize()
        self.assertEqual(out.item(), 3 * x.numel())

    def test_calls_are_captured_into_graphs(self):
        x, out = torch.ones(100_000, device="cuda"), torch.empty((), device="cuda")
        tuner.prepare_reduce(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            tuner.reduce(x, out=out)
        for value in (2, 5):
            x.fill_(value)
            graph.replay()
            self.assertEqual(out.item(), value * x.numel())

    def test_threads_do_not_disturb_each_other(self):
        wrong = []

        def work(number):
            x = torch.full((10_000 + number,), float(number), device="cuda")
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
                for _ in range(500):
                    if tuner.reduce(x).item() != number * x.numel():
                        wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(wrong, [])

    def test_a_kernel_takes_tensors(self):
        a = torch.rand(30, 70, device="cuda")
        c = torch.empty_like(a)
        tuner.Kernel("sumMatrix2D")(a, a, c)
        self.assertTrue(torch.equal(c, a + a))

    def test_memory_of_the_host_is_refused(self):
        with self.assertRaises(tuner.Error):
            tuner.reduce(torch.ones(100))

    def test_a_kernel_is_tuned(self):
        kernel = tuner.Kernel("sumMatrix2D")
        tuned = kernel.tune([256, 128], trials=6, T="float")
        self.assertEqual(tuned.trials, 6)
        self.assertTrue(kernel.run([256, 128], tuned.configuration, T="float").verified)


@unittest.skipUnless(cupy is not None, "there is no CuPy")
class CuPy(unittest.TestCase):
    def test_results_are_new_arrays_on_the_current_stream(self):
        with cupy.cuda.Stream():
            x = cupy.arange(10_000, dtype=cupy.float64)
            total = tuner.reduce(x)
            self.assertIsInstance(total, cupy.ndarray)
            self.assertEqual(float(total), 9999 * 5000)


if __name__ == "__main__":
    unittest.main()
