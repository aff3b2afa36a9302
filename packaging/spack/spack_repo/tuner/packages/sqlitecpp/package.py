from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Sqlitecpp(CMakePackage):
    """SQLiteC++, an easy-to-use C++ wrapper of SQLite3."""

    homepage = "https://github.com/SRombauts/SQLiteCpp"
    url = "https://github.com/SRombauts/SQLiteCpp/archive/3.3.3.tar.gz"

    license("MIT")

    version("3.3.3", sha256="33bd4372d83bc43117928ee842be64d05e7807f511b5195f85d30015cad9cac6")

    variant("shared", default=True, description="A shared library")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("sqlite@3:+column_metadata")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("SQLITECPP_INTERNAL_SQLITE", False),
            self.define("SQLITECPP_RUN_CPPCHECK", False),
            self.define("SQLITECPP_RUN_CPPLINT", False),
        ]
