from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Tuner(CMakePackage):
    """A kernel autotuner for CUDA. It compiles a kernel for many values of its parameters,
    proves each variant correct, measures it, and serves the best one for each device and size."""

    homepage = "@HOMEPAGE@"
    url = "@URL@"

    license("Apache-2.0")

    version("@VERSION@", sha256="@SHA256@")

    variant("cuda", default=True, description="Kernels on GPUs; without it they run on the CPU")
    variant("mpi", default=False, description="The program tune-mpi, which tunes on several hosts")
    variant("shared", default=True, description="A shared library")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("boost@1.74:+program_options+context")
    depends_on("eigen@3.3:", type="build")
    depends_on("fmt", type="build")
    depends_on("libmd")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("sqlite@3:")
    depends_on("sqlitecpp")
    depends_on("zlib-api")
    depends_on("cuda@12:", type=("build", "run"), when="+cuda")  # headers, and NVRTC
    depends_on("mpi", when="+mpi")

    requires("platform=linux")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", self.spec.satisfies("~mpi")),
            self.define("TUNER_EXAMPLES", False),
            self.define("TUNER_STATIC", False),
            self.define("TUNER_TESTS", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("TUNER_CUDA_INCLUDE", self.spec["cuda"].prefix.include))
        else:
            args.append(self.define("TUNER_CUDA_HEADERS", False))
        return args

    def test_version(self):
        """the program starts and names its version"""
        tune = which(self.prefix.bin.tune, required=True)
        assert str(self.version) in tune("--version", output=str)
