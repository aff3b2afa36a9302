#include <tuner/runtime/plan.hpp>

#include <cstring>

#include <tuner/core/error.hpp>

namespace tuner::runtime {
namespace {

/// Stores \p number the way the kernel takes it. Integers travel exactly; floating types through double.
void store_number(std::byte* to, const detail::LaunchArgument& number, ElementType type) {
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
  switch (type) {
    case ElementType::int8:
      return put(static_cast<std::int8_t>(number.integer));
    case ElementType::uint8:
      return put(static_cast<std::uint8_t>(number.integer));
    case ElementType::int16:
      return put(static_cast<std::int16_t>(number.integer));
    case ElementType::uint16:
      return put(static_cast<std::uint16_t>(number.integer));
    case ElementType::int32:
      return put(static_cast<std::int32_t>(number.integer));
    case ElementType::uint32:
      return put(static_cast<std::uint32_t>(number.integer));
    case ElementType::int64:
      return put(number.integer);
    case ElementType::uint64:
      return put(static_cast<std::uint64_t>(number.integer));
    case ElementType::float32:
      return put(static_cast<float>(number.number));
    case ElementType::float64:
      return put(number.number);
    case ElementType::half:
    case ElementType::bfloat16:
      break;  // refused when the plan is made
  }
}

/// The per-thread default stream (CU_STREAM_PER_THREAD) is one handle for many streams: its key is the thread.
std::uintptr_t stream_key(Stream stream) {
  constexpr std::uintptr_t kPerThread = 2;
  static thread_local char this_thread;
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  return handle == kPerThread ? reinterpret_cast<std::uintptr_t>(&this_thread) : handle;
}

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
      while (flag_.test(std::memory_order_relaxed)) {
      }
    }
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

/// The work buffers of one plan on one stream. Launches on one stream run in order, so they can share them.
struct Plan::WorkSpace {
  std::uintptr_t stream = 0;
  std::vector<std::unique_ptr<DeviceMemory>> buffers;
  std::vector<DevicePointer> addresses;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  WorkSpace* next = nullptr;
};

Plan::Plan(Backend& backend, PlanParts parts) : backend_(backend), parts_(std::move(parts)) {}

Plan::~Plan() {
  for (WorkSpace* space = work_spaces_.load(); space != nullptr;) {
    delete std::exchange(space, space->next);
  }
}

Plan::WorkSpace* Plan::find_work_space(std::uintptr_t stream) const {
  for (WorkSpace* space = work_spaces_.load(std::memory_order_acquire); space != nullptr; space = space->next) {
    if (space->stream == stream) return space;
  }
  return nullptr;
}

Plan::WorkSpace& Plan::work_space(Stream stream) const {
  const std::uintptr_t key = stream_key(stream);
  if (WorkSpace* known = find_work_space(key)) return *known;
  const std::lock_guard lock(growing_);
  if (WorkSpace* known = find_work_space(key)) return *known;
  auto space = std::make_unique<WorkSpace>();
  space->stream = key;
  for (const WorkBuffer& buffer : parts_.work_buffers) {
    space->buffers.push_back(backend_.allocate(buffer.bytes));
    space->addresses.push_back(space->buffers.back()->address());
    if (buffer.zeroed) {  // an upload is done when it returns, on whatever stream the launch will be
      const std::vector<std::byte> zeros(buffer.bytes);
      backend_.upload(space->addresses.back(), zeros.data(), zeros.size());
    }
  }
  space->next = work_spaces_.load(std::memory_order_relaxed);
  work_spaces_.store(space.get(), std::memory_order_release);
  return *space.release();
}

void Plan::prepare(Stream stream) const {
  if (!parts_.work_buffers.empty()) work_space(stream);
}

bool Plan::prepared(Stream stream) const {
  return parts_.work_buffers.empty() || find_work_space(stream_key(stream)) != nullptr;
}

void Plan::launch(const detail::LaunchArgument* arguments, Stream stream) const {
  if (parts_.work_buffers.empty()) {
    for (const PlannedLaunch& launch : parts_.launches) enqueue(launch, arguments, nullptr, stream);
    return;
  }
  WorkSpace& space = work_space(stream);
  if (parts_.launches.size() == 1) {
    enqueue(parts_.launches.front(), arguments, &space, stream);
    return;
  }
  // Two threads on one stream must not interleave the launches that hand partial results to each other.
  const SpinLock lock(space.busy);
  for (const PlannedLaunch& launch : parts_.launches) enqueue(launch, arguments, &space, stream);
}

void Plan::enqueue(const PlannedLaunch& launch, const detail::LaunchArgument* arguments, const WorkSpace* space,
                   Stream stream) const {
  void* parameters[kMaxParameters];
  alignas(16) std::byte numbers[kMaxArguments][16];
  std::size_t used = 0;
  for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
    const ParameterSource& source = launch.parameters[i];
    // cuLaunchKernel takes pointers to non-const but only reads through them.
    switch (source.kind) {
      case ParameterSource::Kind::constant:
        parameters[i] = const_cast<std::byte*>(source.constant.bytes);
        break;
      case ParameterSource::Kind::caller_pointer:
        parameters[i] = const_cast<const void**>(&arguments[source.index].pointer);
        break;
      case ParameterSource::Kind::caller_number:
        store_number(numbers[used], arguments[source.index], source.type);
        parameters[i] = numbers[used++];
        break;
      case ParameterSource::Kind::work_buffer:
        parameters[i] = const_cast<DevicePointer*>(&space->addresses[source.index]);
        break;
    }
  }
  backend_.enqueue(*launch.module, launch.function, launch.shape, parameters, stream);
}

}  // namespace tuner::runtime
