#pragma once
/// One device context that calls are served on, and the process's table of them. When the context dies, so does all
/// that it holds; what is left here goes with the next context that is opened.

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
  ~ServedDevice() { backend->abandon(); }  // only a context that is gone is given up

  /// The device of \p context, which is current: opened at first use and kept as long as the context lives. Where that
  /// may be, a stream capture of another thread must not forbid this one anything (BesideCaptures). Throws Error.
  static ServedDevice& of(const ContextName& context);
  /// Frees the work space of all devices that nobody uses. Throws Error.
  static void trim_all();

  /// On a GPU its environment names no compiler, because finding one can take as long as a whole first call.
  const Device& device() const { return backend->device(); }
  /// With the compiler: for what is tuned on it.
  Device tuned_device() const { return find_device(device().key.backend, device().index); }

  const ContextName context;
  const std::shared_ptr<Backend> backend;  ///< memory that the caller holds may outlive the context
  WorkSpaces work{*backend, context};
  ResultSlots results{*backend};
  LoadedModules modules{*backend, [](std::string_view message) { Serving::process().warn(message); }};
  FirstUse::Device first_use;
};

}  // namespace tuner::runtime
