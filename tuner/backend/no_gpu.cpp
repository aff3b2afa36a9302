// The answers of a build without CUDA.
#include <tuner/backend/gpu.hpp>

namespace tuner {

ContextName primary_gpu_context(int) { return {}; }
bool is_alive(const ContextName&) { return true; }
CallContext::CallContext(const void*, int, void* stream) : stream_(stream) {}
CallContext::~CallContext() = default;
ContextName CallContext::name() const { return kHostContext; }
CallContext::Capture CallContext::capture() const { return {}; }
StreamName CallContext::stream_name() const {
  const std::uint64_t thread = this_thread_as_a_stream();
  return {thread, thread};
}
std::string CallContext::why_unreachable(const void*) const { return {}; }
void keep_until_destroyed(void*, void (*)(void*), void*) {}
BesideCaptures::BesideCaptures(const ContextName&) {}
BesideCaptures::~BesideCaptures() = default;
void wait_for_all(const ContextName&) {}

}  // namespace tuner
