#pragma once
/// One device context that calls are served on, and the process's table of them. When the context dies, so does all
/// that it holds; what is left here goes with the next context that is opened.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/work_space.hpp>
#include <tuner/runtime/first_use.hpp>
#include <tuner/runtime/result_slots.hpp>

namespace tuner::runtime {

struct ServedDevice {
  ServedDevice(const ContextName& context_, std::shared_ptr<Backend> backend_)
      : context(context_), backend(std::move(backend_)), work(*backend, context), results(*backend) {}
  ~ServedDevice() { backend->abandon(); }  // only a context that is gone is given up

  /// The device of \p call's context, opened at first use and kept as long as the context lives. Throws Error.
  static ServedDevice& of(const CallContext& call);
  /// Throws Error in a process forked from one that was served: threads and driver stayed there.
  static void refuse_after_fork() {
    if (forked_.load(std::memory_order_relaxed)) [[unlikely]]
      throw_forked();
  }

  const Device& device() const { return backend->device(); }
  /// Compiles (or takes from the image cache) and loads \p request; the module stays loaded.
  /// Thread-safe; several threads compile at once. Throws Error with the compiler's or driver's message.
  std::shared_ptr<const Module> load(const CompileRequest& request);

  const ContextName context;
  const std::shared_ptr<Backend> backend;  ///< memory that the caller holds may outlive the context
  WorkSpaces work;
  ResultSlots results;
  FirstUse::Device first_use;

 private:
  std::mutex loading_;
  std::map<std::string, std::shared_ptr<const Module>> modules_;  // by image key; null: it did not load

  [[noreturn]] static void throw_forked();
  static inline std::atomic<bool> forked_{false};
};

}  // namespace tuner::runtime
