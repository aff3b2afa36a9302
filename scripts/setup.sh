# Makes this machine ready to build tuner. The scripts of this folder and of .ci/ source it; it is not a program. All
# messages go to stderr, so that stdout stays clean (`scripts/tune --json`).

TUNER_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# cmake reads it when it configures a folder for the first time.
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

tuner_say() { printf 'tuner: %s\n' "$*" >&2; }
tuner_fail() { tuner_say "$*"; exit 1; }

# The Debian and Ubuntu packages that the build needs.
TUNER_PACKAGES=(g++ cmake ninja-build libboost-program-options-dev libboost-context-dev libfmt-dev libeigen3-dev nlohmann-json3-dev
                libsqlite3-dev libsqlitecpp-dev zlib1g-dev libmd-dev pkg-config libgtest-dev libgmock-dev)

# tuner_missing_packages NAME…: prints those that are not installed.
tuner_missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

# tuner_install_packages NAME…: installs what is missing. Does nothing, and asks nothing, if all are installed.
tuner_install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    tuner_say "no apt-get here: please see to it that these (Debian names) are installed: $*"
    return
  fi
  local missing
  mapfile -t missing < <(tuner_missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || tuner_fail "missing packages: ${missing[*]}. Install them as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  tuner_say "installing with apt-get: ${missing[*]}"
  # Fetches a new package list only if the present one does not resolve the names.
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    "${as_root[@]}" apt-get update -q >&2 || tuner_fail "apt-get update failed: check the network and the package sources, then run this again"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
      tuner_fail "apt-get could not install ${missing[*]}: see its messages above"
  fi
}

# cmake 3.25 came with Debian 12 and Ubuntu 24.04; Ubuntu 22.04 has 3.22.
tuner_require_cmake() {
  command -v cmake >/dev/null || tuner_fail "cmake is missing: install cmake 3.25 or newer"
  local version
  version=$(cmake --version | sed -n '1s/^cmake version \([0-9.]*\).*/\1/p')
  [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ] && return
  tuner_fail "cmake $version is too old, 3.25 is needed. On Ubuntu 22.04: 'sudo snap install cmake --classic',
       or 'pip install --user cmake' with ~/.local/bin first in PATH; then run this again"
}

# One job for each core, but no more than fit into memory (a heavy file needs about 1 GB).
tuner_jobs() {
  local cores memory
  cores=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1000000)}' /proc/meminfo 2>/dev/null)
  [ "${memory:-0}" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# tuner_build PRESET TARGET…: configures if needed and builds. All messages go to stderr.
tuner_build() {
  local preset=$1
  shift
  local folder=$TUNER_ROOT/build/$preset
  if [ ! -e "$folder/build.ninja" ]; then
    tuner_say "configuring $folder"
    (cd "$TUNER_ROOT" && cmake --preset "$preset") >&2 || tuner_fail "cmake could not configure $folder: see its messages above"
    tuner_say "building (the first time takes some minutes)"
  fi
  cmake --build "$folder" --parallel "$(tuner_jobs)" --target "$@" >&2 || tuner_fail "the build in $folder failed: see its messages above"
}

# Everything that the scripts need: packages, cmake, and the targets of the release build.
tuner_set_up() {
  tuner_install_packages "${TUNER_PACKAGES[@]}"
  tuner_require_cmake
  tuner_build release "$@"
}

# tuner_count_tests FOLDER: counts the single tests of the last ctest run, whose entries are whole programs.
tuner_count_tests() {
  [ -e "$1/Testing/Temporary/LastTest.log" ] || return 0
  awk '/^\[       OK \]/ {passed++}
       /^\[  SKIPPED \].*\)$/ {skipped++}
       /^\[  FAILED  \].*\)$/ {failed++; names = names "\n  " $4}
       END {printf "tuner: of single tests %d passed, %d skipped, %d failed%s\n", passed, skipped, failed, names}' \
    "$1/Testing/Temporary/LastTest.log" >&2
}
