#include <tuner/backend/host/discover.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <tuner/backend/traits.hpp>
#include <tuner/core/threads.hpp>

namespace tuner::host {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    for (const char* key : {"model name", "Model", "cpu model", "cpu\t"}) {
      if (line.rfind(key, 0) != 0) continue;
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
      if (begin != std::string::npos) return line.substr(begin);
    }
  }
  utsname name{};
  return uname(&name) == 0 ? std::string(name.machine) : std::string("cpu");
}

std::int64_t last_level_cache() {
  for (int index = 5; index >= 0; --index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::int64_t size = 0;
    char unit = 'K';
    if (file >> size) return (file >> unit, unit == 'M') ? size << 20 : size << 10;
  }
  const long size = std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 0L});
  return size > 0 ? size : std::int64_t{8} << 20;
}

/// Runs \p work(begin, end) for parts of \p words on \p threads threads. Bytes a second, the best of several runs.
template <typename Work>
double rate(unsigned threads, std::size_t words, double bytes_a_word, Work work) {
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t) {
      pool.emplace_back([=] { work(words * t / threads, words * (t + 1) / threads); });
    }
    for (std::thread& thread : pool) thread.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(words) * bytes_a_word / seconds);
  }
  return best;
}

std::uint64_t sum(const std::uint64_t* data, std::size_t words) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  std::size_t i = 0;
  for (; i + 4 <= words; i += 4) {
    a += data[i];
    b += data[i + 1];
    c += data[i + 2];
    d += data[i + 3];
  }
  for (; i < words; ++i) a += data[i];
  return a + b + c + d;
}

std::atomic<std::uint64_t> sink{0};  // so that the compiler does not drop the reads

}  // namespace

Device discover(unsigned threads, const std::string& compiler) {
  Device device;
  device.key.backend = kHostBackend;
  device.key.cpu = cpu_model();
  device.key.sm_count = static_cast<int>(threads);
  device.key.l2_bytes = last_level_cache();
  device.limits.sm_count = static_cast<int>(threads);
  device.limits.max_blocks_per_sm = 1;      // an operating-system thread runs one block at a time
  device.limits.max_shared_bytes = 232448;  // 227 KiB, as compute capability 9.0
  device.limits.shared_bytes_per_sm = 233472;
  device.key.max_shared_bytes = device.limits.max_shared_bytes;
  utsname name{};
  if (uname(&name) == 0) device.environment.driver = std::string(name.sysname) + ' ' + name.release;
  device.environment.compiler = compiler;
  device.name = device.key.cpu + " (" + std::to_string(threads) + (threads == 1 ? " core)" : " cores)");
  return device;
}

const Ceilings& ceilings(unsigned threads, std::int64_t cache_bytes) {
  static Once measured;
  static Ceilings result;
  measured.run([&] {
    const auto bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(2 * cache_bytes, 32 << 20, 128 << 20));
    const std::size_t words = bytes / 8;
    std::vector<std::uint64_t> from(words, 1), to(words / 2, 2);
    result.read = rate(threads, words, 8, [&](std::size_t begin, std::size_t end) {
      sink.fetch_add(sum(from.data() + begin, end - begin), std::memory_order_relaxed);
    });
    result.copy = rate(threads, words / 2, 16, [&](std::size_t begin, std::size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * 8);
    });
    result.write = rate(threads, words / 2, 8, [&](std::size_t begin, std::size_t end) {
      std::memset(to.data() + begin, 3, (end - begin) * 8);
    });
  });
  return result;
}

void flush_cache(std::int64_t cache_bytes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static std::vector<std::uint64_t> buffer(
      static_cast<std::size_t>(std::clamp<std::int64_t>(2 * cache_bytes, 1 << 20, 64 << 20)) / 8, 1);
  sink.fetch_add(sum(buffer.data(), buffer.size()), std::memory_order_relaxed);
}

}  // namespace tuner::host
