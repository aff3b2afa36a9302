#include <tuner/runtime/call_place.hpp>

#include <algorithm>
#include <iterator>

#include <tuner/core/error.hpp>

namespace tuner::runtime {
namespace {

const void* first_pointer(const Call& call) {
  for (std::size_t i = 0; i < call.count; ++i)
    if (call.arguments[i].pointer != nullptr) return call.arguments[i].pointer;
  return nullptr;
}

/// The pointers of this thread's last good call: the driver need not check the same buffers again.
thread_local struct {
  std::uint64_t context = 0;
  const void* pointers[kMaxArguments] = {};
} checked;

}  // namespace

CallPlace::CallPlace(const Call& call, int ordinal)
    : context(first_pointer(call), ordinal, call.stream.handle()), capture(context.capture()) {
  if (capture.active && call.value != nullptr)
    throw Error(ErrorCode::invalid_argument,
                "tuner::reduce waits for its result, which a stream capture cannot: use reduce_async() there");
  bool same = checked.context == context.id();
  for (std::size_t i = 0; i < call.count; ++i) {
    if (!call.is_pointer(i) || (call.value != nullptr && call.value->place == &call.arguments[i])) continue;
    const void* const pointer = call.arguments[i].pointer;
    same = same && pointer == checked.pointers[i];
    if (pointer == nullptr) {
      suspects.push_back({i, {}});
    } else if (!same) {
      std::string why = context.why_unreachable(pointer);
      if (!why.empty()) suspects.push_back({i, std::move(why)});
    }
  }
  if (same || !suspects.empty()) return;
  if (checked.context != context.id()) std::fill(std::begin(checked.pointers), std::end(checked.pointers), nullptr);
  checked.context = context.id();
  for (std::size_t i = 0; i < call.count; ++i) checked.pointers[i] = call.arguments[i].pointer;
}

}  // namespace tuner::runtime
