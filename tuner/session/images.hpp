#pragma once
/// The cache of compiled images behind the seam that evaluators use (measure/image_store.hpp).

#include <filesystem>
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

/// Content address of an image: SHA-256 of \p request, included files too, and of \p maker: its compiler's identity,
/// or own_part_of_images() for what is the same whatever compiler made it.
std::string image_key(const CompileRequest& request, std::string_view maker);
/// Whether image_key() knows all that decides the image: false where a macro names an included file, and where one has
/// changed since the request was made.
bool is_addressable(const CompileRequest& request);

/// The name of the file that its image is in for calls (cache/image_files.hpp), whatever compiler made it.
std::string served_image_name(const CompileRequest& request, std::string_view backend);
/// Adds the image of \p request to those that are shipped with the wisdom in \p folder. Throws cache::CacheError.
void ship_image(const std::filesystem::path& folder, const CompileRequest& request, std::string_view backend,
                const Image& image);

/// What \p backend, which outlives it, has loaded: each module once, and for good. Thread-safe.
class LoadedModules {
 public:
  /// \p warn (may be empty) hears of trouble with images, from any thread that loads.
  explicit LoadedModules(Backend& backend, std::function<void(std::string_view)> warn = {});
  /// Takes \p request, where it is not loaded yet, from the files of images, else from the image cache, else compiles
  /// it and keeps it; several threads compile at once. Where nothing can be compiled for the chip, PTX for it or an
  /// earlier one is taken. An image that does not load is passed over with a warning. Throws Error with the
  /// compiler's or driver's message: ErrorCode::compiler for a request that does not compile, which is not tried again,
  /// and for one that does not load.
  std::shared_ptr<const Module> load(const CompileRequest& request);
  /// Whether load() found that \p request does not compile, or that there is no compiler.
  bool is_broken(const CompileRequest& request);

 private:
  struct Entry {
    std::shared_ptr<const Module> module;   // null: it is not loaded
    std::shared_ptr<const Image> compiled;  // by this process; not loaded yet
    std::string failure;                    // why it does not compile
  };

  /// From the files of \p name for \p architecture. Null, with the reason in \p why, where there is none that loads.
  std::shared_ptr<const Module> from_files(const CompileRequest& request, const std::string& architecture,
                                           const std::string& name, const std::string& key, LaunchError& why);
  /// What a tuning has compiled.
  std::shared_ptr<const Module> tuned(const CompileRequest& request, const std::string& key, LaunchError& why);
  std::shared_ptr<const Module> from_ptx(const CompileRequest& request, const std::string& key, LaunchError& why);
  std::shared_ptr<const Image> compiled(const CompileRequest& request);
  /// Null, with the reason in \p why, where it does not load.
  std::shared_ptr<const Module> loaded(const Image& image, const std::string& key, LaunchError& why);
  Error refusal(const CompileRequest& request, const LaunchError& why) const;
  void pass_over(const CompileRequest& request, const LaunchError& why);
  void remember(const std::string& key, const Error& failure);

  Backend& backend_;
  const std::function<void(std::string_view)> warn_;
  const std::string own_part_;  // own_part_of_images()
  const ImageStore images_;
  std::mutex loading_;
  std::map<std::string, Entry> modules_;  // by image key
  bool any_broken_ = false;
};

}  // namespace tuner
