#pragma once
/// Where a call goes: its context, what its stream is captured into, and which of its pointers lead nowhere there.

#include <string>
#include <vector>

#include <tuner/backend/gpu.hpp>
#include <tuner/runtime/call.hpp>

namespace tuner::runtime {

/// A pointer that a kernel may be given only where it touches nothing.
struct Suspect {
  std::size_t argument;
  std::string why;  ///< the call's context cannot reach it; empty: it is null
};

struct CallPlace {
  /// \p ordinal: as CallContext takes it. Throws Error as CallContext does, and for a call that would wait for a
  /// capture. Allocates nothing where no pointer is suspect; the driver is not asked about what this thread's last call
  /// had.
  CallPlace(const Call& call, int ordinal);

  CallContext context;  ///< current on this thread as long as this lives
  CallContext::Capture capture;
  std::vector<Suspect> suspects;  ///< but for the place of the call's Value
};

}  // namespace tuner::runtime
