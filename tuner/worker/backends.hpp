#pragma once
/// The backends and compilers that workers can open by name.

#include <functional>
#include <memory>
#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner::worker {

/// \p backend: "cuda" or "host". \p known is called once, as soon as it is known what the device is; opening it may
/// take much longer. Throws Error when it is not built in or cannot be opened.
std::unique_ptr<Backend> open_backend(
    const std::string& backend, int device,
    const std::function<void(const Device& device, const std::string& architecture)>& known);
/// Only its compiler; opens no device.
std::unique_ptr<Compiler> open_compiler(const std::string& backend);

}  // namespace tuner::worker
