#!/usr/bin/env bash
# Started by rattler-build in the source folder. PREFIX: where the package is put together.
set -euo pipefail
# shellcheck disable=SC2086 # CMAKE_ARGS is several words
cmake -G Ninja -S . -B build ${CMAKE_ARGS:-} -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$PREFIX" -D CMAKE_INSTALL_LIBDIR=lib \
  -D BUILD_SHARED_LIBS=ON -D TUNER_STATIC=OFF -D TUNER_TESTS=OFF -D TUNER_EXAMPLES=OFF \
  -D TUNER_CUDA_INCLUDE="$PREFIX/targets/x86_64-linux/include" -D CMAKE_DISABLE_FIND_PACKAGE_MPI=ON
cmake --build build -j "${CPU_COUNT:-2}"
cmake --install build
