#pragma once
/// The cache of compiled images behind the seam that evaluators use (measure/image_store.hpp).

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <tuner/measure/image_store.hpp>

namespace tuner {

/// `images.db` in the user's cache folder; empty where there is none. \p warn (may be empty) hears of trouble, from any
/// thread that uses the store.
ImageStore image_cache(const std::function<void(std::string_view)>& warn = {});

/// Content address of an image: SHA-256 of everything that decides it, included files too.
std::string image_key(const CompileRequest& request, std::string_view compiler_identity);
/// Whether image_key() knows all that decides the image: false where a macro names an included file, and where one has
/// changed since the request was made.
bool is_addressable(const CompileRequest& request);

/// What \p backend, which outlives it, has loaded: each module once, and for good. Thread-safe.
class LoadedModules {
 public:
  explicit LoadedModules(Backend& backend) : backend_(backend) {}
  /// Takes \p request from the image cache, or compiles it, where it is not loaded yet; several threads compile at
  /// once. Throws Error with the compiler's or driver's message.
  std::shared_ptr<const Module> load(const CompileRequest& request);

 private:
  Backend& backend_;
  std::mutex loading_;
  std::map<std::string, std::shared_ptr<const Module>> modules_;  // by image key; null: it did not load
};

}  // namespace tuner
