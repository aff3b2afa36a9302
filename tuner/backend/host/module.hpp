#pragma once
/// A compiled kernel file in this process.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/host/shim/tuner_host_abi.h>

namespace tuner::host {

class HostModule final : public Module {
 public:
  /// LaunchError when \p image is not a shared object of this machine, or is of another version of the engine.
  static std::variant<std::unique_ptr<HostModule>, LaunchError> load(const Image& image);
  ~HostModule() override;
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  /// All zero: a CPU has neither registers of a thread nor occupancy.
  Resources resources(std::size_t function, const LaunchShape& shape) const override;

  std::vector<std::string> parameter_types(std::size_t function) const override;
  Variable variable(std::size_t function) const override { return functions_.at(function).variable; }

  struct Function {
    std::string expression;
    Variable variable;
    const tuner_host::EntryInfo* entry = nullptr;  ///< null for the expression of a variable
  };
  const std::vector<Function>& functions() const { return functions_; }
  tuner_host::GetContext* context() const { return context_; }
  /// Before and after static shared memory.
  const std::array<tuner_host::GetGuard*, 2>& guards() const { return guards_; }
  /// Null when the image is not interleaved.
  tuner_host::GetAccesses* accesses() const { return accesses_; }
  std::uintptr_t text_begin() const { return text_begin_; }
  std::uintptr_t text_end() const { return text_end_; }

 private:
  HostModule() = default;

  void* handle_ = nullptr;
  int descriptor_ = -1;
  std::string path_;  // of a file that the destructor removes; empty for a memory file
  tuner_host::GetContext* context_ = nullptr;
  std::array<tuner_host::GetGuard*, 2> guards_{};
  tuner_host::GetAccesses* accesses_ = nullptr;
  std::vector<Function> functions_;
  std::uintptr_t text_begin_ = 0, text_end_ = 0;
};

}  // namespace tuner::host
