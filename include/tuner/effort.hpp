#pragma once
/// How much is spent on an answer. C++17. Uses only the standard library: every room may include it.

#include <tuner/version.hpp>

namespace tuner {
inline namespace TUNER_ABI {

/// Ordered: a result of more effort answers a question of less. docs/measuring.md#effort says when each search ends.
enum class Effort {
  none,      ///< Nothing is measured: the answer is what is stored, or the kernel's default.
  quick,     ///< A few seconds, and fewer when an improvement is unlikely.
  normal,    ///< A minute on a GPU, half of it on the host.
  thorough,  ///< No limit of time: until an improvement is very unlikely, or all was tried.
};

}  // namespace TUNER_ABI
}  // namespace tuner
