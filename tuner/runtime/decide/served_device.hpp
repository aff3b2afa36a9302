#pragma once
/// A device context that serves calls, with what its calls share, and the process's table of such contexts.

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/work_space.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/session/wisdom/kept_images.hpp>

namespace tuner::runtime {

/// The right to tune a problem on first use, among the threads of this process: one at a time for each device.
/// cache::Claim is the same between processes.
class FirstUse {
 public:
  /// Shared by the threads that use one device.
  struct Device {
    std::mutex mutex;
    std::condition_variable over;
    std::string tuned;              ///< the problem that is being tuned; empty: none
    std::set<std::string> in_vain;  ///< problems for which another process was waited for in vain
    std::set<std::string> tried;    ///< problems that this process has tuned without a result
  };
  enum class Turn {
    mine,   ///< this thread tunes
    over,   ///< another thread has just tuned this problem; this one waited for it
    later,  ///< the device is busy with another problem
  };

  FirstUse(Device& device, std::string problem) : device_(device), problem_(std::move(problem)) {
    std::unique_lock lock(device_.mutex);
    if (device_.tuned.empty()) {
      device_.tuned = problem_;
      turn_ = Turn::mine;
    } else if (device_.tuned == problem_) {
      device_.over.wait(lock, [&] { return device_.tuned != problem_; });
      turn_ = Turn::over;
    }
  }
  ~FirstUse() {
    if (turn_ != Turn::mine) return;
    {
      const std::lock_guard lock(device_.mutex);
      device_.tuned.clear();
      device_.over.notify_all();
    }
    Renewal::process().renew_what_waits();
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;
  Turn turn() const { return turn_; }

  /// Whether this process has waited for another process in vain. It does not wait for this problem again.
  bool in_vain() const { return is_among(device_.in_vain); }
  void set_in_vain() { add_to(device_.in_vain); }
  /// Whether this process has tuned the problem without a result. It does not tune it again.
  bool tried() const { return is_among(device_.tried); }
  void set_tried() { add_to(device_.tried); }

 private:
  bool is_among(const std::set<std::string>& problems) const {
    const std::lock_guard lock(device_.mutex);
    return problems.count(problem_) > 0;
  }
  void add_to(std::set<std::string>& problems) {
    const std::lock_guard lock(device_.mutex);
    problems.insert(problem_);
  }

  Device& device_;
  const std::string problem_;
  Turn turn_ = Turn::later;
};

/// Device memory for the results of calls that return a value: slots of 16 bytes, each for one call at a time.
class ResultSlots {
 public:
  explicit ResultSlots(Backend& backend) : memory_(backend.allocate(kBytes * 64)) {}

  class Loan {
   public:
    explicit Loan(ResultSlots& owner) : owner_(owner) {
      std::uint64_t free = owner_.free_.load(std::memory_order_relaxed);
      // If 64 threads use a slot, this one waits.
      while (free == 0 || !owner_.free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire)) {
        if (free == 0) owner_.free_.wait(0, std::memory_order_relaxed);
        free = owner_.free_.load(std::memory_order_relaxed);
      }
      index_ = std::countr_zero(free);
    }
    ~Loan() {
      if (owner_.free_.fetch_or(std::uint64_t{1} << index_, std::memory_order_release) == 0) owner_.free_.notify_all();
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    DevicePointer address() const { return owner_.memory_->address() + static_cast<std::size_t>(index_) * kBytes; }

   private:
    ResultSlots& owner_;
    int index_;
  };

 private:
  static constexpr std::size_t kBytes = 16;
  std::unique_ptr<DeviceMemory> memory_;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};  // one bit for each slot
};

/// When the context dies, so does all that it holds; this object is destroyed when the next context is opened.
struct ServedDevice {
  ServedDevice(const ContextName& context_, std::shared_ptr<Backend> backend_)
      : context(context_), backend(std::move(backend_)) {}
  ~ServedDevice() { backend->abandon(); }  // only called when the context has died

  /// The device of \p context, which must be current. Opened at first use, kept as long as the context lives. Unless it
  /// is open, the caller must hold a BesideCaptures. Throws Error.
  static ServedDevice& of(const ContextName& context);
  /// Frees all unused work space of all devices. Throws Error.
  static void trim_all();

  /// On a GPU its environment names no compiler: finding one can take as long as a whole first call.
  const Device& device() const { return backend->device(); }
  /// Includes the compiler, for tuning.
  Device tuned_device() const { return find_device(device().key.backend, device().index); }

  const ContextName context;
  const std::shared_ptr<Backend> backend;  ///< memory that callers hold may outlive the context
  WorkSpaces work{*backend, context};
  ResultSlots results{*backend};
  LoadedModules modules{*backend, [](std::string_view message) { Serving::process().warn(message); }};
  FirstUse::Device first_use;
};

}  // namespace tuner::runtime
