#pragma once
/// A device context that serves calls, and the process's table of them. When the context dies, so does all that it
/// holds; this object is destroyed when the next context is opened.

#include <memory>
#include <string_view>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/work_space.hpp>
#include <tuner/runtime/first_use.hpp>
#include <tuner/runtime/result_slots.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/session/images.hpp>

namespace tuner::runtime {

struct ServedDevice {
  ServedDevice(const ContextName& context_, std::shared_ptr<Backend> backend_)
      : context(context_), backend(std::move(backend_)) {}
  ~ServedDevice() { backend->abandon(); }  // only called when the context has died

  /// The device of \p context, which must be current. Opened at first use, kept as long as the context lives. Unless it
  /// is open, the caller must hold a BesideCaptures. Throws Error.
  static ServedDevice& of(const ContextName& context);
  /// Frees all unused work space of all devices. Throws Error.
  static void trim_all();

  /// On a GPU its environment names no compiler: finding one can take as long as a whole first call.
  const Device& device() const { return backend->device(); }
  /// Includes the compiler, for tuning.
  Device tuned_device() const { return find_device(device().key.backend, device().index); }

  const ContextName context;
  const std::shared_ptr<Backend> backend;  ///< memory that callers hold may outlive the context
  WorkSpaces work{*backend, context};
  ResultSlots results{*backend};
  LoadedModules modules{*backend, [](std::string_view message) { Serving::process().warn(message); }};
  FirstUse::Device first_use;
};

}  // namespace tuner::runtime
