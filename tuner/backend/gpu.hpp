#pragma once
/// The questions that serving asks the CUDA driver at each call. Without a driver, or if tuner was built without CUDA,
/// the answers are "no GPU". All functions are thread-safe.

#include <atomic>
#include <cstdint>
#include <string>

namespace tuner {

/// A device context. A new context may get the handle of a destroyed one, but never its id.
struct ContextName {
  std::uint64_t id = 0;       ///< 0: none
  std::uintptr_t handle = 0;  ///< a CUcontext
};
/// The one context of the host backend.
inline constexpr ContextName kHostContext{~std::uint64_t{0}, 0};
inline bool is_host(const ContextName& context) { return context.id == kHostContext.id; }

/// A stream of a context.
struct StreamName {
  std::uint64_t id = 0;     ///< unique among all streams that the context ever has; never 0
  std::uint64_t place = 0;  ///< may be that of a destroyed stream; never 0
};

/// The primary context of GPU \p ordinal, as the CUDA runtime uses it. It is kept until the process ends. Throws Error.
ContextName primary_gpu_context(int ordinal);
/// Whether \p context still exists.
bool is_alive(const ContextName& context);

/// The context and the stream of a call on this thread. The context is current in the scope of this object, so that
/// calls of its backend need not look for it.
class CallContext {
 public:
  /// The thread's current context if it has one, which takes one question to the driver. Otherwise the context that
  /// owns \p pointer, otherwise the primary context of GPU \p ordinal. With kOnHost, the host backend's context,
  /// without any question. \p stream: a CUstream. Throws Error if the current context was destroyed or the driver has
  /// shut down.
  CallContext(const void* pointer, int ordinal, void* stream = nullptr);
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  static constexpr int kOnHost = -1;
  std::uint64_t id() const { return id_; }
  ContextName name() const;

  struct Capture {
    bool active = false;
    void* graph = nullptr;  ///< that is built
  };
  /// The capture of the stream. Throws Error for the default stream while a stream that waits for it is captured.
  Capture capture() const;
  /// Precondition: the stream is not captured; the question would end the capture. On the host backend each thread is a
  /// stream.
  StreamName stream_name() const;
  /// Why kernels of the context cannot use \p pointer: "is host memory"; empty if they can.
  std::string why_unreachable(const void* pointer) const;

 private:
  std::uint64_t id_ = kHostContext.id;
  void* stream_;
  bool pushed_ = false;
};
/// A number for each thread, which serves as its stream on a backend with synchronous launches.
inline std::uint64_t this_thread_as_a_stream() {
  static std::atomic<std::uint64_t> threads{0};
  static thread_local const std::uint64_t number = ++threads;
  return number;
}
/// Calls release(object) when \p graph and everything made from it has been destroyed. Throws Error.
void keep_until_destroyed(void* graph, void (*release)(void*), void* object);

/// In its scope, this thread can allocate, load and wait in \p context while another thread captures a stream.
class BesideCaptures {
 public:
  explicit BesideCaptures(const ContextName& context);
  ~BesideCaptures();
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  int mode_ = -1;
};

/// Waits for all work in \p context, even while another thread captures one of its streams. Throws Error.
void wait_for_all(const ContextName& context);

}  // namespace tuner
