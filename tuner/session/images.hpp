#pragma once
/// The cache of compiled images behind the seam that evaluators use (measure/image_store.hpp).

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

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
  /// \p warn (may be empty) hears of trouble with the image cache, from any thread that loads.
  explicit LoadedModules(Backend& backend, std::function<void(std::string_view)> warn = {})
      : backend_(backend), warn_(std::move(warn)) {}
  /// Takes \p request from the image cache, or compiles it, where it is not loaded yet; several threads compile at
  /// once. A kept image that does not load is compiled anew. Throws Error with the compiler's or driver's message:
  /// ErrorCode::compiler for a request that does not compile, which is not tried again, and for one that does not load.
  std::shared_ptr<const Module> load(const CompileRequest& request);
  /// Whether load() found that \p request does not compile.
  bool is_broken(const CompileRequest& request);

 private:
  struct Entry {
    std::shared_ptr<const Module> module;   // null: it is not loaded
    std::shared_ptr<const Image> compiled;  // by this process; not loaded yet
    std::string failure;                    // why it does not compile
  };

  std::shared_ptr<const Image> compiled(const CompileRequest& request, const std::string& key);
  /// Null, with the reason in \p why, where it does not load.
  std::shared_ptr<const Module> loaded(const Image& image, const std::string& key, LaunchError& why);

  Backend& backend_;
  const std::function<void(std::string_view)> warn_;
  std::mutex loading_;
  std::map<std::string, Entry> modules_;  // by image key
  bool any_broken_ = false;
};

}  // namespace tuner
