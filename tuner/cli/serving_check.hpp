#pragma once
/// Whether what a database says of a kernel may be served: asked before results become code of other programs.

#include <map>
#include <optional>
#include <string>

#include <cache/records.hpp>

#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

/// The kernel that is called \p name now, or is the file of that name; nothing when only a database knows it. Throws
/// tuner::Error for a file that is no kernel.
std::optional<KernelSpec> kernel_named(const std::string& name);

class ServingCheck {
 public:
  /// \p known: a kernel that is asked by its name, wherever its file is.
  explicit ServingCheck(std::optional<KernelSpec> known);
  /// Why \p configuration may not be served for the problem of \p about on its device, by the kernel's space and the
  /// limits that are stored of the device. Nothing for a kernel that only a database knows.
  std::optional<std::string> operator()(const cache::Context& about, const std::string& configuration);
  /// One warning of what was rejected, and one of each kernel that could not be asked.
  void warn() const;

 private:
  std::map<std::string, std::optional<KernelSpec>> kernels_;
  std::map<std::string, std::string> rejected_;  // why, by kernel and configuration
};

}  // namespace tuner::cli
