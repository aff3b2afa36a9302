// The answers of a build without CUDA.
#include <tuner/backend/gpu.hpp>

#include <tuner/core/error.hpp>

namespace tuner {

bool gpu_available() { return false; }
ContextName current_gpu_context() { return {}; }
ContextName gpu_context_of(const void*) { return {}; }
ContextName primary_gpu_context(int) { return {}; }
bool is_alive(const ContextName&) { return true; }
std::string why_unreachable(const void*, int, const ContextName&) { return {}; }
StreamState stream_state(const ContextName&, void*) { return this_thread_as_a_stream(); }
void keep_until_destroyed(void*, void (*)(void*), void*) {}
BesideCaptures::BesideCaptures(const ContextName&) {}
BesideCaptures::~BesideCaptures() = default;
void wait_for_all(const ContextName&) {}
std::unique_ptr<Backend> open_gpu_context(const ContextName&) {
  throw Error("this tuner was built without the cuda backend");
}

}  // namespace tuner
