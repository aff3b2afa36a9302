#pragma once
/// One device context that calls are served on: its backend, the modules loaded there, and result slots for calls
/// that return a value. Lives as long as the process.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner::runtime {

/// Context number of the host backend; GPU contexts are their handles.
inline constexpr std::uint64_t kHostContext = 1;

/// A function in a module that stays loaded.
struct LoadedFunction {
  std::shared_ptr<const Module> module;
  std::size_t function = 0;
};

class ServedDevice {
 public:
  ServedDevice(std::uint64_t context, std::unique_ptr<Backend> backend);

  std::uint64_t context() const { return context_; }
  Backend& backend() { return *backend_; }
  const Device& device() const { return backend_->device(); }

  /// Compiles (or takes from the image cache) and loads \p request; functions in the order of its expressions.
  /// Thread-safe. Throws Error with the compiler's or driver's message.
  std::vector<LoadedFunction> load(const CompileRequest& request);

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
  std::uint64_t context_;
  std::unique_ptr<Backend> backend_;
  std::mutex loading_;
  std::map<std::string, std::vector<LoadedFunction>> loaded_;  // by image key
  std::unique_ptr<DeviceMemory> results_;
  std::atomic<std::uint64_t> free_results_;  // a bit each
};

}  // namespace tuner::runtime
