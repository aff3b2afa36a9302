#pragma once
/// The process's one table of devices and wisdom that library calls are served from.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include <tuner/runtime/served_device.hpp>
#include <tuner/session/wisdom.hpp>
#include <tuner/settings.hpp>

namespace tuner::runtime {

class Serving {
 public:
  static Serving& process();

  void configure(Settings settings);
  /// With the environment's say: TUNER_TUNE, TUNER_TUNE_TIME, TUNER_DEVICE. Throws Error for values they cannot have.
  Settings settings() const;

  /// Number of the context that a call with \p pointer among its arguments runs in: this thread's current context,
  /// else the pointer's, else the primary context of the first GPU; kHostContext on the host backend. Cheap: asked
  /// at each call.
  std::uint64_t context_for(const void* pointer);
  /// The device behind \p context, opened at first use; afterwards found without a lock. Throws Error.
  ServedDevice& device(std::uint64_t context);

  /// Opened at first use. Guarded by wisdom_mutex().
  Wisdom& wisdom();
  std::mutex& wisdom_mutex() { return wisdom_mutex_; }

  /// Passes \p message to Settings::on_warning; the same message only once.
  void warn(std::string_view message);

 private:
  Serving() = default;
  bool serves_gpu();

  mutable std::mutex mutex_;  // of settings_ and warned_
  std::mutex opening_;
  Settings settings_;
  static constexpr std::size_t kMaxDevices = 64;
  std::array<std::atomic<ServedDevice*>, kMaxDevices> devices_{};  // filled from the front, never emptied
  std::atomic<int> gpu_{-1};                                       // -1: not decided yet
  std::mutex wisdom_mutex_;
  std::unique_ptr<Wisdom> wisdom_;
  std::vector<std::string> warned_;
};

}  // namespace tuner::runtime
