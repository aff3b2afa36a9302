#pragma once
/// How a program uses a kernel. C++17. Uses only the standard library: every room may include it.

#include <tuner/version.hpp>

namespace tuner {
inline namespace TUNER_ABI {

/// A kernel's time, and so its best configuration, depends on what runs around it. docs/measuring.md says how each is
/// measured. Later versions add uses at the end.
enum class Use {
  single,  ///< By itself, with a cold L2 cache.
  hot,     ///< By itself, with the cache as an earlier run left it.
  stream,  ///< After another kernel of its stream, with the cache as it is.
  graph,   ///< As a node among many of a CUDA graph.
};

}  // namespace TUNER_ABI
}  // namespace tuner
