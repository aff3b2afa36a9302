#pragma once
/// The process's one table of devices and wisdom that library calls are served from.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
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
  /// With the environment's say: TUNER_TUNE, TUNER_TUNE_TIME, TUNER_DEVICE. No tuning once main() has ended. Throws
  /// Error for values they cannot have.
  Settings settings() const;

  /// The context that a call with \p pointer among its arguments runs in: this thread's current context, else the
  /// pointer's, else the primary context of the GPU that the settings name; kHostContext on the host backend. Cheap:
  /// asked at each call. Throws Error where there is none, and in a process forked from one that was served.
  ContextName context_for(const void* pointer);
  /// The device behind \p context; null while nothing has opened it. Takes no lock.
  ServedDevice* find(const ContextName& context) const;
  /// The device behind \p context, opened at first use. Throws Error.
  ServedDevice& device(const ContextName& context);

  /// Opened at first use. Safe to use from several threads.
  Wisdom& wisdom();

  /// Keeps \p message for Settings::on_warning; the same message only once.
  void warn(std::string_view message);
  /// Tells the user what was kept. Called where no lock is held.
  void deliver_warnings() noexcept;

 private:
  Serving();
  int choose();

  mutable std::mutex mutex_;  // of settings_, warned_ and told_
  std::mutex opening_;
  Settings settings_;
  static constexpr std::size_t kMaxDevices = 256;
  std::array<std::atomic<ServedDevice*>, kMaxDevices> devices_{};  // filled from the front
  std::vector<ServedDevice*> gone_;                                // their contexts were destroyed
  std::atomic<int> choice_;                                        // see choose()
  std::atomic<bool> forked_{false}, ending_{false};
  std::once_flag wisdom_once_;
  std::unique_ptr<Wisdom> wisdom_;
  std::vector<std::string> warned_;
  std::size_t told_ = 0;  // of warned_
};

/// Tells warnings at the end of a scope that may give some.
struct WarningsAtEnd {
  explicit WarningsAtEnd(Serving& serving_) : serving(serving_) {}
  ~WarningsAtEnd() { serving.deliver_warnings(); }
  WarningsAtEnd(const WarningsAtEnd&) = delete;
  WarningsAtEnd& operator=(const WarningsAtEnd&) = delete;
  Serving& serving;
};

}  // namespace tuner::runtime
