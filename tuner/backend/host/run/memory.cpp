#include <tuner/backend/host/run/memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <tuner/backend/host/run/sanitizer.hpp>
#include <tuner/backend/host/shim/tuner_host_abi.h>
#include <tuner/error.hpp>

namespace tuner::host {
namespace {

using tuner_host::TextureObject;

// Bytes of address space on each side of a buffer, which cost no memory. The widest fence catches every 32-bit index of
// 4-byte elements that overflows. A limit on address space (ulimit -v) may leave room only for the other.
#if defined(TUNER_HOST_TSAN)
constexpr std::size_t kFences[] = {std::size_t{64} << 20};  // ThreadSanitizer needs memory for every page
#else
constexpr std::size_t kFences[] = {std::size_t{8} << 30, std::size_t{64} << 20};
#endif

constexpr std::size_t kCheckedBytes = std::size_t{64} << 20;  // for less, the check is not worth its time

/// Free memory of the system, bytes: /proc/meminfo, proc(5).
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t total = 0;
  for (std::string name; file >> name;) {
    std::uint64_t kib = 0;
    if ((name == "MemAvailable:" || name == "SwapFree:") && file >> kib) total += kib << 10;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return total > 0 ? total : std::numeric_limits<std::uint64_t>::max();
}

/// The buffers of all backends of this process.
class Buffers {
 public:
  void add(const char* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[begin] = bytes;
    total_ += bytes;
  }
  void remove(const char* begin) {
    const std::lock_guard lock(mutex_);
    const auto at = sizes_.find(begin);
    total_ -= at->second;
    sizes_.erase(at);
  }
  std::uint64_t total() const { return total_; }
  template <typename Work>
  void for_each(Work work) {
    const std::lock_guard lock(mutex_);
    for (const auto& [begin, bytes] : sizes_) work(begin, bytes);
  }

 private:
  std::mutex mutex_;
  std::map<const char*, std::size_t> sizes_;
  std::atomic<std::uint64_t> total_{0};
};

Buffers& buffers() {
  static auto* all = new Buffers;  // never destroyed: buffers of static objects outlive it otherwise
  return *all;
}

/// Free memory without pages that were allocated here and never touched: the system counts these as free.
std::uint64_t unclaimed_bytes() {
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  resident *= static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t given = buffers().total(), available = available_bytes();
  const std::uint64_t untouched = given > resident ? given - resident : 0;
  return available > untouched ? available - untouched : 0;
}

[[noreturn]] void no_room(std::size_t bytes) {
  throw Error(ErrorCode::out_of_memory, "no room for " + std::to_string(bytes) +
                                            " bytes on the host: " + std::to_string(unclaimed_bytes()) + " are free");
}

class Memory final : public DeviceMemory {
 public:
#if defined(TUNER_HOST_ASAN)
  /// AddressSanitizer guards both ends of a malloc, to the byte.
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 4096, std::max<std::size_t>(bytes, 1)) != 0) no_room(bytes);
    base_ = static_cast<char*>(memory);
    buffers().add(base_, bytes);
  }
  ~Memory() override {
    buffers().remove(base_);
    std::free(base_);
  }
#else
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (bytes > std::numeric_limits<std::size_t>::max() / 2) no_room(bytes);
    const std::size_t pages = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
    const bool fenced = std::ranges::any_of(kFences, [&](std::size_t fence) { return map(pages, fence); });
    if (!fenced && !map(pages, page)) no_room(bytes);
    buffers().add(base_ + fence_, bytes);
  }
  ~Memory() override {
    buffers().remove(base_ + fence_);
    munmap(base_, mapped_);
  }
#endif
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  DevicePointer address() const override { return reinterpret_cast<DevicePointer>(base_ + fence_); }
  std::size_t bytes() const override { return bytes_; }

 private:
  bool map(std::size_t pages, std::size_t fence) {
    const std::size_t whole = pages + 2 * fence;
    void* base = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    if (mprotect(static_cast<char*>(base) + fence, pages, PROT_READ | PROT_WRITE) != 0) {
      munmap(base, whole);
      return false;
    }
    base_ = static_cast<char*>(base);
    mapped_ = whole;
    fence_ = fence;
    return true;
  }

  char* base_ = nullptr;
  std::size_t mapped_ = 0, fence_ = 0, bytes_;
};

#if defined(__x86_64__)
__attribute__((target("clflushopt"))) void evict(const char* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) _mm_clflushopt(const_cast<char*>(begin + at));
  _mm_sfence();
}
#endif

TextureObject::Kind kind_of(ElementType type) {
  switch (type) {
    case ElementType::half:
      return TextureObject::kHalf;
    case ElementType::float32:
      return TextureObject::kFloat;
    case ElementType::int8:
    case ElementType::int16:
    case ElementType::int32:
      return TextureObject::kSigned;
    default:
      return TextureObject::kUnsigned;
  }
}

class HostArray final : public DeviceArray {
 public:
  explicit HostArray(const ArrayShape& shape) : shape_(shape), memory_(allocate(shape.bytes())) {
    object_.data = reinterpret_cast<unsigned char*>(memory_->address());
    object_.components = shape.components;
    object_.bytes = static_cast<int>(info(shape.type).bytes);
    object_.kind = kind_of(shape.type);
    for (std::size_t i = 0; i < shape.extent.size(); ++i) {
      object_.size[i] = std::max<std::size_t>(shape.extent[i], 1);
      if (shape.extent[i] > 0) object_.dimensions = static_cast<int>(i) + 1;
    }
  }

  std::uint64_t texture(const TextureReading& reading) override {
    require_readable(shape_, reading);
    TextureObject object = object_;
    object.outside = static_cast<TextureObject::Outside>(reading.outside);
    object.linear = reading.linear;
    object.normalized = reading.normalized;
    object.as_float = reading.as_float;
    object.fetched = reading.fetched;
    return keep(object);
  }
  std::uint64_t surface() override {
    require_surface(shape_);
    TextureObject object = object_;
    object.surface = true;
    return keep(object);
  }
  void load(DevicePointer from) override {
    std::memcpy(object_.data, reinterpret_cast<const void*>(from), shape_.bytes());
  }
  void store(DevicePointer to) override { std::memcpy(reinterpret_cast<void*>(to), object_.data, shape_.bytes()); }

 private:
  std::uint64_t keep(const TextureObject& object) {
    objects_.push_back(std::make_unique<TextureObject>(object));
    objects_.back()->self = objects_.back().get();
    return reinterpret_cast<std::uint64_t>(objects_.back().get());
  }

  ArrayShape shape_;
  std::unique_ptr<DeviceMemory> memory_;
  TextureObject object_{};
  std::vector<std::unique_ptr<TextureObject>> objects_;
};

}  // namespace

std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) {
  // The system allows more than it has, and kills processes later.
  if (bytes > kCheckedBytes && bytes > unclaimed_bytes()) no_room(bytes);
  return std::make_unique<Memory>(bytes);
}

bool evict_buffers() {
#if defined(__x86_64__)
  // CPUID leaf 7, EBX bit 23; GCC knows no name for it before version 13.
  static const bool can = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 23 & 1) != 0;
  }();
  if (can) buffers().for_each(evict);
  return can;
#else
  return false;
#endif
}

std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape) {
  require_elements(shape);
  return std::make_unique<HostArray>(shape);
}

}  // namespace tuner::host
