#pragma once
/// One device context that calls are served on: its backend, the modules loaded there, work space, result slots for
/// calls that return a value, and who tunes on it at the moment. When the context dies, so does all that it holds; this
/// stays for the calls that may still look at it.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/work_space.hpp>

namespace tuner::runtime {

/// A function in a module that stays loaded.
struct LoadedFunction {
  std::shared_ptr<const Module> module;
  std::size_t function = 0;
};

class ServedDevice {
 public:
  ServedDevice(const ContextName& context, std::unique_ptr<Backend> backend);

  const ContextName& context() const { return context_; }
  Backend& backend() { return *backend_; }
  const Device& device() const { return backend_->device(); }
  WorkSpaces& work() { return work_; }

  /// Compiles (or takes from the image cache) and loads \p request; functions in the order of its expressions.
  /// Thread-safe; several threads compile at once. Throws Error with the compiler's or driver's message.
  std::vector<LoadedFunction> load(const CompileRequest& request);

  /// The right to tune a problem on first use: one at a time for each device.
  class FirstUse {
   public:
    enum class Turn {
      mine,   ///< this thread tunes
      over,   ///< another thread has just tuned this problem; it was waited for
      later,  ///< the device is busy with another problem
    };
    FirstUse(ServedDevice& device, const std::string& problem);
    ~FirstUse();
    FirstUse(const FirstUse&) = delete;
    FirstUse& operator=(const FirstUse&) = delete;
    Turn turn() const { return turn_; }

   private:
    ServedDevice& device_;
    Turn turn_;
  };

  /// 16 bytes of device memory for the result of one call, lent to one thread at a time.
  class ResultSlot {
   public:
    explicit ResultSlot(ServedDevice& owner);
    ~ResultSlot();
    ResultSlot(const ResultSlot&) = delete;
    ResultSlot& operator=(const ResultSlot&) = delete;
    DevicePointer address() const;

   private:
    ServedDevice& owner_;
    unsigned index_;
  };

 private:
  ContextName context_;
  std::unique_ptr<Backend> backend_;
  std::mutex loading_;                                         // of loaded_
  std::map<std::string, std::vector<LoadedFunction>> loaded_;  // by image key
  WorkSpaces work_;
  std::mutex tuning_;  // of the two below
  std::condition_variable tuned_;
  std::string being_tuned_;
  std::unique_ptr<DeviceMemory> results_;
  std::atomic<std::uint64_t> free_results_;  // a bit each
};

}  // namespace tuner::runtime
