// The answers of a build without CUDA.
#include <tuner/backend/gpu.hpp>

namespace tuner {

ContextName primary_gpu_context(int) { return {}; }
bool is_alive(const ContextName&) { return true; }
std::string why_unreachable(const void*, const ContextName&, int) { return {}; }
CallContext::CallContext(const void*, int) {}
CallContext::~CallContext() = default;
ContextName CallContext::name() const { return kHostContext; }
CallContext::Capture CallContext::capture(void*) const { return {}; }
std::uint64_t CallContext::stream_id(void*) const { return this_thread_as_a_stream(); }
void keep_until_destroyed(void*, void (*)(void*), void*) {}
BesideCaptures::BesideCaptures(const ContextName&) {}
BesideCaptures::~BesideCaptures() = default;
void wait_for_all(const ContextName&) {}

}  // namespace tuner
