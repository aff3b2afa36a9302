#pragma once
/// Where a call runs: its context, the capture of its stream, and pointers that are not usable there.

#include <string>
#include <vector>

#include <tuner/backend/gpu.hpp>
#include <tuner/runtime/call.hpp>

namespace tuner::runtime {

/// A pointer that is allowed only where the kernel accesses no element.
struct Suspect {
  std::size_t argument;
  std::string why;  ///< why the call's context cannot reach it; empty: it is null
};

struct CallPlace {
  /// \p ordinal: see CallContext. Throws what CallContext throws, and Error for a call that would wait for a capture.
  /// Allocates nothing if no pointer is suspect. Asks the driver nothing about pointers of this thread's last call.
  CallPlace(const Call& call, int ordinal);

  CallContext context;  ///< current on this thread while this object lives
  CallContext::Capture capture;
  std::vector<Suspect> suspects;  ///< without the place of the call's Value
};

}  // namespace tuner::runtime
