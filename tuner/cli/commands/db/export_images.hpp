#pragma once
/// Compiled images for installations without a compiler.

#include <tuner/cli/input/options.hpp>

namespace tuner::cli {

/// `--as images`: compiles the best configurations of the databases, and each kernel's default, for each of `--arch`.
/// The images go beside the wisdom in a folder, for an installation without a compiler. Keeps files that exist already.
/// Needs NVRTC and no GPU.
int export_images(const Given& given);

}  // namespace tuner::cli
