#pragma once
/// The modules that calls have loaded into one context.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner::runtime {

/// A function in a module that stays loaded.
struct LoadedFunction {
  std::shared_ptr<const Module> module;
  std::size_t function = 0;
};

class LoadedFunctions {
 public:
  explicit LoadedFunctions(Backend& backend) : backend_(backend) {}

  /// Compiles (or takes from the image cache) and loads \p request; functions in the order of its expressions.
  /// Thread-safe; several threads compile at once. Throws Error with the compiler's or driver's message.
  std::vector<LoadedFunction> load(const CompileRequest& request);

 private:
  Backend& backend_;
  std::mutex mutex_;
  std::map<std::string, std::vector<LoadedFunction>> known_;  // by image key
};

}  // namespace tuner::runtime
