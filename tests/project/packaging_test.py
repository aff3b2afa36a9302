"""The recipes of packaging/ for one archive: packaging_test.py SOURCE_FOLDER

Fills them in, reads them as their tools would (JSON, Python, CMake; conda's YAML line by line), and compares them with the
build: each option that they set exists there, and each names the libraries that the build looks for.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
CMAKE = sys.argv.pop(1)
BUILD = "\n".join(path.read_text(encoding="utf-8") for path in [SOURCE / "CMakeLists.txt", *sorted((SOURCE / "cmake").glob("*.cmake"))])
VERSION = ".".join(re.findall(r"#define TUNER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (SOURCE / "include" / "tuner" / "version.hpp").read_text(encoding="utf-8")))
# Libraries, as the build names them, in vcpkg, conda-forge and Spack.
LIBRARIES = {
    "Boost": ("boost-program-options", "libboost-devel", "boost"),
    "boost_context": ("boost-context", "libboost-devel", "boost"),
    "Eigen3": ("eigen3", "eigen", "eigen"),
    "SQLiteCpp": ("sqlitecpp", "sqlitecpp", "sqlitecpp"),
    "fmt": ("fmt", "fmt", "fmt"),
    "md": ("libmd", "libmd", "libmd"),
    "nlohmann_json": ("nlohmann-json", "nlohmann_json", "nlohmann-json"),
    "sqlite3": ("sqlite3", "libsqlite", "sqlite"),
    "z": ("zlib", "zlib", "zlib-api"),
}


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(self + "/" + name)


class Spec(dict):
    """A package that Spack has chosen the variants of."""

    def __init__(self, *variants):
        super().__init__(cuda=types.SimpleNamespace(prefix=Prefix("/cuda")))
        self.variants = variants

    def satisfies(self, variant):
        return variant in self.variants


def spack_package(path):
    """Runs a package.py, with recorders in place of Spack's directives. Returns its class, and the calls by directive."""
    calls = {}

    def recorder(name):
        return lambda *arguments, **options: calls.setdefault(name, []).append((arguments, options))

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={value}"

        def define_from_variant(self, name, variant):
            assert variant in [arguments[0] for arguments, _ in calls["variant"]], variant
            return self.define(name, self.spec.satisfies("+" + variant))

    names = {name: recorder(name) for name in ("conflicts", "depends_on", "license", "requires", "variant", "version")}
    text = re.sub(r"^from .*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    exec(compile(text, str(path), "exec"), {"CMakePackage": CMakePackage, **names})
    return next(one for one in CMakePackage.__subclasses__()), calls


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        cls.archive, cls.out = folder / f"tuner-{VERSION}.tar.gz", folder / "out"
        cls.archive.write_bytes(b"any archive")
        subprocess.run([SOURCE / "packaging" / "write_recipes", cls.archive, cls.out], check=True)
        cls.packages = cls.out / "spack" / "spack_repo" / "tuner" / "packages"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def text(self, *parts):
        return self.out.joinpath(*parts).read_text(encoding="utf-8")

    def test_nothing_is_left_to_fill_in(self):
        files = [path for path in self.out.rglob("*") if path.is_file()]
        self.assertEqual(len(files), 10)
        for path in files:
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"@[A-Z0-9]+@", path)

    def test_all_name_the_version_the_archive_and_its_checksum(self):
        sha256 = hashlib.sha256(b"any archive").hexdigest()
        self.assertEqual(json.loads(self.text("vcpkg", "tuner", "vcpkg.json"))["version"], VERSION)
        self.assertIn(hashlib.sha512(b"any archive").hexdigest(), self.text("vcpkg", "tuner", "portfile.cmake"))
        self.assertIn(f'  version: "{VERSION}"\n', self.text("conda", "recipe.yaml"))
        self.assertIn(f'  sha256: "{sha256}"\n', self.text("conda", "recipe.yaml"))
        package, calls = spack_package(self.packages / "tuner" / "package.py")
        self.assertEqual(calls["version"], [((VERSION,), {"sha256": sha256})])
        self.assertEqual(package.url, f"file://{self.archive}")
        for recipe in (("vcpkg", "tuner", "portfile.cmake"), ("conda", "recipe.yaml")):
            self.assertIn(f'"file://{self.archive}"', self.text(*recipe))

    def test_options_exist_in_the_build(self):
        package, _ = spack_package(self.packages / "tuner" / "package.py")
        package, options = package(), set()
        for variants in (["+cuda", "+shared"], ["~cuda", "~mpi"]):
            package.spec = Spec(*variants)
            options.update(re.match(r"-D(\w+)=", one).group(1) for one in package.cmake_args())
        for recipe in (("vcpkg", "tuner", "portfile.cmake"), ("conda", "build.sh")):
            options.update(re.findall(r"-D ?(\w+)=", self.text(*recipe)))
        self.assertGreater(len(options), 6)
        for name in options:
            disabled = re.match("CMAKE_DISABLE_FIND_PACKAGE_(.*)", name)
            if disabled:
                self.assertRegex(BUILD, rf"find_package\({disabled.group(1)} QUIET")
            elif name.startswith("TUNER_"):
                self.assertRegex(BUILD, rf"(option|set|find_path)\({name} ")

    def test_dependencies_are_those_of_the_build(self):
        listed = re.search(r"foreach\(tuner_library IN ITEMS ([^)]*)\)", BUILD).group(1).split()
        found = set(re.findall(r"find_package\((\w+)[^)]* REQUIRED", BUILD)) - {"GTest", "Threads"} | set(listed)
        self.assertEqual(found, set(LIBRARIES), "packaging/ and this list name the libraries of the build")
        manifest = json.loads(self.text("vcpkg", "tuner", "vcpkg.json"))
        vcpkg = {one for one in manifest["dependencies"] if isinstance(one, str)}
        conda = set(re.findall(r"^    - (\S+)", re.search(r"  host:\n(.*?)  run:", self.text("conda", "recipe.yaml"), re.DOTALL).group(1), re.MULTILINE))
        _, calls = spack_package(self.packages / "tuner" / "package.py")
        spack = {re.match(r"[\w-]+", arguments[0]).group() for arguments, _ in calls["depends_on"]}
        self.assertEqual(vcpkg, {names[0] for names in LIBRARIES.values()})
        self.assertEqual(conda, {names[1] for names in LIBRARIES.values()} | {"cuda-cudart-dev", "cuda-nvrtc-dev"})
        self.assertEqual(spack, {names[2] for names in LIBRARIES.values()} | {"cxx", "cmake", "cuda", "mpi"})

    def test_scripts_have_no_errors_of_syntax(self):
        subprocess.run(["bash", "-n", self.out / "conda" / "build.sh"], check=True)
        spack_package(self.packages / "sqlitecpp" / "package.py")
        json.loads(self.text("vcpkg", "libmd", "vcpkg.json"))
        # CMake reads the whole file before it runs the first command, whose name it does not know here.
        for port in ("tuner", "libmd"):
            ran = subprocess.run([CMAKE, "-P", self.out / "vcpkg" / port / "portfile.cmake"], capture_output=True, text=True)
            self.assertIn('Unknown CMake command "vcpkg_download_distfile"', ran.stderr)


if __name__ == "__main__":
    unittest.main()
