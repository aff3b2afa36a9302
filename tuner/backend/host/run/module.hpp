#pragma once
/// A compiled kernel file in this process.

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/host/run/block_runner.hpp>

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

  std::vector<Variable> lasting_variables() const override { return lasting_variables_; }

  struct Function {
    std::string expression;
    Variable variable;
    const tuner_host::EntryInfo* entry = nullptr;  ///< null for the expression of a variable
  };
  const std::vector<Function>& functions() const { return functions_; }
  /// The parts of a launch of \p function that depend on the module. Kernel::accesses is null when the image is not
  /// interleaved.
  Kernel kernel(std::size_t function) const {
    Kernel kernel = kernel_;
    kernel.run = functions_[function].entry->run;
    return kernel;
  }

 private:
  HostModule() = default;

  void* handle_ = nullptr;
  int descriptor_ = -1;
  std::string path_;  // of a file that the destructor removes; empty for a memory file
  std::vector<StaticShared> static_shared_;
  Kernel kernel_;  // the same for all functions
  std::vector<Function> functions_;
  std::vector<Variable> lasting_variables_;
};

}  // namespace tuner::host
