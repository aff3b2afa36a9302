#pragma once
/// The backends and compilers that workers can open by name.

#include <memory>
#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner::worker {

/// \p backend: "cuda" or "host". Throws Error when it is not built in or cannot be opened.
std::unique_ptr<Backend> open_backend(const std::string& backend, int device);
/// Only its compiler; opens no device.
std::unique_ptr<Compiler> open_compiler(const std::string& backend);

}  // namespace tuner::worker
