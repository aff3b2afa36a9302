#pragma once
/// `tune export` to what other programs read. Both return the exit code and throw UsageError and Error.

#include <tuner/cli/options.hpp>

namespace tuner::cli {

/// `--header`: writes the header of the one kernel that \p given names, of the user's results and the shipped ones, and
/// says on stderr what it holds.
int export_header(const Given& given);
/// `--images`, where there is CUDA: compiled images for an installation without a compiler, beside the wisdom in the
/// folder of `--images`. Compiles the best configurations of the databases and every kernel's default, for each of
/// `--arch`. Files that are there stay. Needs NVRTC and no GPU.
int export_images(const Given& given);

}  // namespace tuner::cli
