#pragma once
/// The few questions that serving asks of the CUDA driver at each call. Without a driver (or without CUDA at build
/// time) the answers are "no GPU". Everything here may be called from several threads.

#include <atomic>
#include <cstdint>
#include <string>

namespace tuner {

/// A device context. Handles come back for other contexts, ids never do.
struct ContextName {
  std::uint64_t id = 0;       ///< 0: none
  std::uintptr_t handle = 0;  ///< a CUcontext
};
/// The one context of the host backend.
inline constexpr ContextName kHostContext{~std::uint64_t{0}, 0};
inline bool is_host(const ContextName& context) { return context.id == kHostContext.id; }

/// A stream of a context.
struct StreamName {
  std::uint64_t id = 0;     ///< no other stream of the context ever has it; never 0
  std::uint64_t place = 0;  ///< streams come to the place of one that was destroyed; never 0
};

/// The primary context of GPU \p ordinal, kept for the life of the process (what the CUDA runtime would use). Throws
/// Error.
ContextName primary_gpu_context(int ordinal);
/// Whether \p context still exists.
bool is_alive(const ContextName& context);

/// The context and the stream that a call of this thread goes to, the context current for the length of a scope. What
/// the backend of that context is asked meanwhile need not look for it again.
class CallContext {
 public:
  /// The thread's own where it has one: one question to the driver. Else the context that owns \p pointer, else the
  /// primary one of GPU \p ordinal. The host backend's for kOnHost, without asking. \p stream: a CUstream. Throws Error
  /// when the thread's own has been destroyed, or the driver has shut down.
  CallContext(const void* pointer, int ordinal, void* stream = nullptr);
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  static constexpr int kOnHost = -1;
  std::uint64_t id() const { return id_; }
  ContextName name() const;

  struct Capture {
    bool active = false;
    void* graph = nullptr;  ///< that it builds
  };
  /// What the stream is captured into. Throws Error for the default stream while a stream that waits for it is
  /// captured.
  Capture capture() const;
  /// The stream must not be captured: that would end the capture. On the host backend each thread is a stream.
  StreamName stream_name() const;
  /// Why kernels of the context cannot use \p pointer: "is host memory"; empty when they can.
  std::string why_unreachable(const void* pointer) const;

 private:
  std::uint64_t id_ = kHostContext.id;
  void* stream_;
  bool pushed_ = false;
};
/// What stands for a stream where launches end before they return.
inline std::uint64_t this_thread_as_a_stream() {
  static std::atomic<std::uint64_t> threads{0};
  static thread_local const std::uint64_t number = ++threads;
  return number;
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

/// Waits for everything that runs in \p context, also while another thread captures a stream of it. Throws Error.
void wait_for_all(const ContextName& context);

}  // namespace tuner
