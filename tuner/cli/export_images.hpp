#pragma once
/// `tune export --images`: compiled images of what calls are served with, for an installation without a compiler.

#include <tuner/cli/options.hpp>

namespace tuner::cli {

/// Compiles, for each of `--arch`, the best configurations of the databases and every kernel's default, and keeps them
/// beside the wisdom in the folder of `--images`. What is there already stays. Needs NVRTC and no GPU. Throws
/// UsageError and Error.
int export_images(const Given& given);

}  // namespace tuner::cli
