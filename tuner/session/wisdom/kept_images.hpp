#pragma once
/// The cache of compiled images, as an ImageStore for evaluators, and the modules that a process has loaded.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {

/// The images in the user's cache folder; an empty store when there is no such folder. \p warn, which may be empty, is
/// called by any thread that uses the store.
ImageStore image_cache(const std::function<void(std::string_view)>& warn = {});

/// Content address of an image: SHA-256 of \p request with its included files, and of \p maker. \p maker: the
/// compiler's identity, or own_part_of_images() for a key that does not depend on the compiler.
std::string image_key(const CompileRequest& request, std::string_view maker);
/// Whether image_key() covers everything that decides the image. False when a macro names an included file, or when an
/// included file has changed since the request was made.
bool is_addressable(const CompileRequest& request);

/// The name of the image's file for calls (cache/query/image_files.hpp). It does not depend on the compiler.
std::string served_image_name(const CompileRequest& request, std::string_view backend);
/// Adds the image of \p request to the images that are shipped with the wisdom in \p folder. Throws cache::CacheError.
void ship_image(const std::filesystem::path& folder, const CompileRequest& request, std::string_view backend,
                const Image& image);

/// The modules that a backend has loaded, each once. They stay loaded. Thread-safe.
class LoadedModules {
 public:
  /// \p backend must outlive it. \p warn, which may be empty, is called by any thread that loads an image.
  explicit LoadedModules(Backend& backend, std::function<void(std::string_view)> warn = {});
  /// The module of \p request. If it is not loaded yet, takes the image from a file, or compiles and keeps it. Several
  /// threads may compile at once. If compiling for the chip is not possible, uses PTX for this chip or an earlier one.
  /// Skips an image that does not load, with a warning. Throws Error with the message of the compiler or driver. Its
  /// code is ErrorCode::compiler when the request does not compile, which is not tried again, when it does not load,
  /// and when there is no compiler. Throws Passing when the compiler cannot be asked now.
  std::shared_ptr<const Module> load(const CompileRequest& request);
  /// Compiles and keeps the image of \p request, unless it is loaded or known to be broken, so that load() need not.
  /// Needs no context. load() reports what fails.
  void prepare(const CompileRequest& request) noexcept;
  /// Whether load() has found that \p request does not compile.
  bool is_broken(const CompileRequest& request);

 private:
  struct Entry {
    std::shared_ptr<const Module> module;   // null: not loaded
    std::shared_ptr<const Image> compiled;  // compiled by this process and not loaded yet
    std::string failure;                    // why it does not compile
  };

  /// Loads a file of \p name for \p architecture. Returns null, with the reason in \p why, when none loads.
  std::shared_ptr<const Module> from_files(const CompileRequest& request, const std::string& architecture,
                                           const std::string& name, const std::string& key, LaunchError& why);
  /// Loads the image that a tuning compiled.
  std::shared_ptr<const Module> tuned(const CompileRequest& request, const std::string& key, LaunchError& why);
  std::shared_ptr<const Module> from_ptx(const CompileRequest& request, const std::string& key, LaunchError& why);
  /// Keeps the image, in memory and, if \p kept, in a file.
  std::shared_ptr<const Image> compile_and_keep(const CompileRequest& request, const std::string& key, bool kept);
  bool keeps(const CompileRequest& request) const;
  /// Loads \p image. Returns null, with the reason in \p why, when it does not load.
  std::shared_ptr<const Module> loaded(const Image& image, const std::string& key, LaunchError& why);
  Error refusal(const CompileRequest& request, const LaunchError& why) const;
  void pass_over(const CompileRequest& request, const LaunchError& why);

  Backend& backend_;
  const std::function<void(std::string_view)> warn_;
  const std::string own_part_;  // own_part_of_images()
  const ImageStore images_;
  std::mutex loading_;
  std::map<std::string, Entry> modules_;  // by image key
  bool any_broken_ = false;
};

}  // namespace tuner
