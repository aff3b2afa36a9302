#pragma once
/// Rewrites the few words of an author's text to which no header of shim/ can give a meaning.

#include <functional>
#include <map>
#include <string>

#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

/// A macro that stands for `__shared__` and may stand before a name: `#define DYNAMIC extern __shared__`.
struct SharedMacro {
  bool is_extern = false;
  std::string type;  ///< the rest of it; often empty
};
using SharedMacros = std::map<std::string, SharedMacro, std::less<>>;
/// The shared macros that \p source and \p includes define.
SharedMacros shared_macros(const std::string& source, const Includes& includes);

/// \p source, a kernel file or a header of its author, as C++ for a CPU. Lines keep their numbers.
/// - Each `extern __shared__ T name[];` becomes a reference to the block's dynamic shared memory, as an array. With a
///   size, as `extern __shared__ T name[4];`, it loses its first word: CUDA takes it as a definition.
/// - Inline PTX becomes the number or mask of the lane that it asks for, or a call that ends the run.
/// - `static __shared__` loses its first word.
/// - `__noinline__` gets a name of ours, because the C++ library's own attributes use that word.
/// - A kernel with `__launch_bounds__` checks them first.
std::string own_text(const std::string& source, const SharedMacros& macros = {});

}  // namespace tuner::host
