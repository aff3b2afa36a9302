#pragma once
/// The modules that calls have loaded into one context.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner::runtime {

class LoadedModules {
 public:
  explicit LoadedModules(Backend& backend) : backend_(backend) {}

  /// Compiles (or takes from the image cache) and loads \p request; the module stays loaded.
  /// Thread-safe; several threads compile at once. Throws Error with the compiler's or driver's message.
  std::shared_ptr<const Module> load(const CompileRequest& request);

 private:
  Backend& backend_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Module>> known_;  // by image key
};

}  // namespace tuner::runtime
