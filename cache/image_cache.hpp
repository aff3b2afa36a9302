#pragma once
/// Compiled images by content address, in the file `images.db`, which only its owner can read. The size is bounded: the
/// least recently used images are removed first. Images can be compiled again, so the file is fast rather than durable:
/// a power cut may destroy it, a killed process harms nothing. Safe with many processes and threads.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <cache/error.hpp>

namespace tuner::cache {

class Store;

struct Image {
  std::string bytes;
  std::string meta;  ///< JSON text given to put(): resources, compiler log …
};

struct ImageCacheOptions {
  std::int64_t max_bytes = std::int64_t{512} << 20;
  WarningSink warn = {};
};

struct ImageCacheStats {
  std::int64_t images = 0;
  std::int64_t bytes = 0;  ///< images and their meta
  std::int64_t file_bytes = 0;
  bool usable = false;  ///< false: put() does nothing and get() finds nothing
};

class ImageCache {
 public:
  /// Opens or creates \p folder/images.db. An image is code: if others can write to the folder or file, or it belongs
  /// to somebody else, the cache warns once and does nothing. It does nothing either when it cannot write.
  explicit ImageCache(const std::filesystem::path& folder, ImageCacheOptions options = {});
  ~ImageCache();

  /// \p key: 64 lower-case hexadecimal digits. An image with a wrong checksum is removed and not returned.
  std::optional<Image> get(const std::string& key);
  /// Replaces the image stored under \p key. Drops images larger than a quarter of max_bytes.
  void put(const std::string& key, const std::string& bytes, const std::string& meta = "{}");
  ImageCacheStats stats();
  void clear();

 private:
  void write(const std::function<void()>& work);

  const ImageCacheOptions options_;
  const std::unique_ptr<Store> store_;
};

}  // namespace tuner::cache
