"""The package on a GPU, with arrays of PyTorch, CuPy and JAX: results, streams, graphs, threads, and a second GPU. Skips what
is not installed, and what needs two GPUs.

    PYTHONPATH=FOLDER_WITH_tuner python3 tests/python/test_gpu.py
"""

import os
import tempfile
import threading
import unittest

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TUNER_CACHE_DIR=FOLDER.name, TUNER_TUNE="never", XLA_PYTHON_CLIENT_PREALLOCATE="false")

import tuner  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = None

has_torch = torch is not None and torch.cuda.is_available()
has_jax = jax is not None and jax.default_backend() == "gpu"


def in_threads(count, work):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


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

    def test_a_result_lies_in_the_memory_of_the_given_stream(self):
        x = torch.ones(1000, device="cuda")
        torch.cuda.synchronize()
        for stream in (torch.cuda.Stream(), torch.cuda.default_stream()):
            total = tuner.reduce(x, stream=stream)
            (owner,) = (one["stream"] for one in torch.cuda.memory_snapshot()
                        if one["address"] <= total.data_ptr() < one["address"] + one["total_size"])
            self.assertEqual(owner, stream.cuda_stream)
            stream.synchronize()
            self.assertEqual(total.item(), 1000)

    def test_a_lazy_conjugate_is_refused(self):
        x = torch.ones(8, dtype=torch.complex64, device="cuda").conj()
        with self.assertRaisesRegex(ValueError, "resolve_conj"):
            tuner.reduce(x)

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

        in_threads(8, work)
        self.assertEqual(wrong, [])

    def test_a_kernel_takes_tensors(self):
        a = torch.rand(30, 70, device="cuda")
        c = torch.empty_like(a)
        tuner.Kernel("sumMatrix2D")(a, a, c)
        self.assertTrue(torch.equal(c, a + a))

    def test_memory_of_the_host_is_refused(self):
        with self.assertRaises(tuner.Error):
            tuner.reduce(torch.ones(100))

    def test_a_type_that_has_no_reduction_is_refused(self):
        with self.assertRaisesRegex(TypeError, "takes no arrays of torch.complex64"):
            tuner.reduce(torch.ones(100, dtype=torch.complex64, device="cuda"))

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


@unittest.skipUnless(has_jax, "there is no JAX with a GPU")
class Jax(unittest.TestCase):
    def test_results_are_numbers(self):
        for kind in ("float32", "float16", "bfloat16", "int8", "int32", "uint32"):
            x = (jnp.arange(3 * 1001).reshape(3, 1001) % 9).astype(kind)
            self.assertEqual(tuner.reduce(x), int(x.astype("int32").sum()), kind)
            self.assertEqual(tuner.reduce(x, "max"), 8, kind)

    def test_an_array_is_read_when_it_is_computed(self):
        big = jnp.ones((4096, 4096))
        for _ in range(20):
            self.assertEqual(tuner.reduce(big @ big), 4096**3)

    @unittest.skipUnless(has_torch, "there is no PyTorch with a GPU")
    def test_a_kernel_reads_an_array_that_is_dropped_at_once(self):
        add = tuner.Kernel("sumMatrix2D")
        for device in jax.devices():
            out = torch.empty(2048, 2048, device=f"cuda:{device.local_hardware_id}")
            with jax.default_device(device):
                for value in range(20):
                    add(jnp.full((2048, 2048), float(value)), jnp.ones((2048, 2048)), out)
                    jnp.full((2048, 2048), -1.0).block_until_ready()  # takes the memory, if it is free
                    self.assertEqual((out.min().item(), out.max().item()), (value + 1, value + 1))

    def test_threads_do_not_disturb_each_other(self):
        wrong = []

        def work(number):
            for step in range(50):
                if tuner.reduce(jnp.full((10_000 + number,), number, "int32") + step) != (number + step) * (10_000 + number):
                    wrong.append(number)

        in_threads(8, work)
        self.assertEqual(wrong, [])

    @unittest.skipUnless(has_jax and jax.device_count() > 1, "there is one GPU")
    def test_an_array_on_another_gpu_is_summed_there(self):
        for device in jax.devices() * 3:
            self.assertEqual(tuner.reduce(jax.device_put(jnp.arange(50_000), device)), 49_999 * 25_000)


@unittest.skipUnless(has_torch and torch.cuda.device_count() > 1, "there is no PyTorch with two GPUs")
class TwoGpus(unittest.TestCase):
    def test_each_gpu_serves_its_own_tensors(self):
        for gpu in (1, 0, 1):
            with torch.cuda.device(gpu):
                x = torch.full((100_001,), gpu + 2.0, device="cuda")
                total, c = tuner.reduce(x), torch.empty(30, 70, device="cuda")
                tuner.Kernel("sumMatrix2D")(torch.ones_like(c), torch.ones_like(c), c)
                self.assertEqual((total.device.index, total.item()), (gpu, x.sum().item()))
                self.assertTrue(torch.equal(c, torch.full_like(c, 2)))

    def test_a_tensor_on_a_gpu_that_is_not_current_is_refused(self):
        x = torch.ones(100, 100, device="cuda:1")
        for call in (lambda: tuner.reduce(x), lambda: tuner.Kernel("sumMatrix2D")(x, x, x)):
            with self.assertRaisesRegex(tuner.Error, r"the array is on GPU 1, and GPU 0 is current: .*torch.cuda.device\(1\)"):
                call()

    def test_graphs_of_two_gpus_do_not_disturb_each_other(self):
        made = []
        for gpu in (0, 1):
            with torch.cuda.device(gpu):
                x, out = torch.ones(100_000, device="cuda"), torch.empty((), device="cuda")
                tuner.prepare_reduce(x)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, stream=torch.cuda.Stream()):  # the default one is on the GPU of the first graph
                    tuner.reduce(x, out=out)
                made.append((x, out, graph))
        for value in (2, 5):
            for x, _, graph in made:
                with torch.cuda.device(x.device):
                    x.fill_(value)
                    graph.replay()
            self.assertEqual([out.item() for _, out, _ in made], [value * 100_000] * 2)

    def test_threads_use_their_own_gpu(self):
        wrong = []

        def work(number):
            with torch.cuda.device(number % 2):
                x = torch.full((10_000 + number,), float(number), device="cuda")
                for _ in range(500):
                    if tuner.reduce(x).item() != number * x.numel():
                        wrong.append(number)

        in_threads(8, work)
        self.assertEqual(wrong, [])

    @unittest.skipUnless(cupy is not None, "there is no CuPy")
    def test_an_array_of_cupy_is_served_on_its_gpu_alone(self):
        with cupy.cuda.Device(1):
            x = cupy.arange(10_000, dtype=cupy.float64)
            self.assertEqual(float(tuner.reduce(x)), 9999 * 5000)
        with cupy.cuda.Device(0), self.assertRaisesRegex(tuner.Error, r"cupy.cuda.Device\(1\)"):
            tuner.reduce(x)


if __name__ == "__main__":
    unittest.main()
