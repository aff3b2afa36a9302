#pragma once
/// The few questions that serving asks of the CUDA driver at each call. Without a driver (or without CUDA at build
/// time) the answers are "no GPU". Everything here may be called from several threads.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner {

/// A device context. Handles come back for other contexts, ids never do.
struct ContextName {
  std::uint64_t id = 0;       ///< 0: none
  std::uintptr_t handle = 0;  ///< a CUcontext
};
/// The one context of the host backend.
inline constexpr ContextName kHostContext{~std::uint64_t{0}, 0};
inline bool is_host(const ContextName& context) { return context.id == kHostContext.id; }

/// True when there is a driver and a device. Throws Error in a process that was forked from a user of CUDA.
bool gpu_available();
/// This thread's current context. Throws Error when it has been destroyed, or the driver has shut down.
ContextName current_gpu_context();
/// The context that owns \p pointer; none for memory that is not of a GPU.
ContextName gpu_context_of(const void* pointer);
/// The primary context of GPU \p ordinal, kept for the life of the process (what the CUDA runtime would use). Throws
/// Error.
ContextName primary_gpu_context(int ordinal);
/// Whether \p context still exists.
bool is_alive(const ContextName& context);

/// Why kernels on GPU \p ordinal, in \p context, cannot use \p pointer: "is host memory"; empty when they can.
std::string why_unreachable(const void* pointer, int ordinal, const ContextName& context);

struct StreamState {
  std::uint64_t id = 0;  ///< no other stream of the process ever has it; 0 while capturing
  bool capturing = false;
  void* graph = nullptr;  ///< that the capture builds
};
/// \p stream: a CUstream. On the host backend each thread is a stream. Throws Error for the default stream while a
/// stream that waits for it is captured.
StreamState stream_state(const ContextName& context, void* stream);
/// What stands for a stream where launches end before they return.
inline StreamState this_thread_as_a_stream() {
  static std::atomic<std::uint64_t> threads{0};
  static thread_local const std::uint64_t number = ++threads;
  return {number, false, nullptr};
}
/// Calls release(object) once \p graph and everything made of it has been destroyed. Throws Error.
void keep_until_destroyed(void* graph, void (*release)(void*), void* object);

/// Lets this thread allocate, load and wait in \p context while another one captures a stream.
class BesideCaptures {
 public:
  explicit BesideCaptures(const ContextName& context);
  ~BesideCaptures();
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  int mode_ = -1;
};

/// Waits for everything that runs in \p context. Throws Error.
void wait_for_all(const ContextName& context);
/// A backend on \p context, which must stay alive. Throws Error.
std::unique_ptr<Backend> open_gpu_context(const ContextName& context);

}  // namespace tuner
