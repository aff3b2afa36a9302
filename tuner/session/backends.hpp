#pragma once
/// Chooses the backend that does the work, and says why.

#include <memory>
#include <string>
#include <string_view>

#include <tuner/backend/backend.hpp>

namespace tuner {

struct BackendChoice {
  std::unique_ptr<Backend> backend;
  std::string reason;  ///< "no NVIDIA driver: libcuda.so.1 not found", "first of 2 GPUs", "asked for"
};

/// \p device: "auto" (the first usable GPU, else the host), "cuda" (the first GPU), a GPU's ordinal, or "host".
/// Throws Error when what was asked for by name is not there, with the reason.
BackendChoice open_backend(std::string_view device);

}  // namespace tuner
