#pragma once
/// Compiled images by content address, in a file of their own (`images.db`), readable by its owner only. Bounded:
/// the least recently used go first. Its contents can be had again by compiling, so it is fast rather than durable: a
/// power cut may cost the whole file, a killed process costs nothing. Safe under many processes and threads.

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
  std::string meta;  ///< JSON text given at put(): resources, compiler log …
};

struct ImageCacheOptions {
  std::int64_t max_bytes = std::int64_t{512} << 20;
  WarningSink warn = {};
};

struct ImageCacheStats {
  std::int64_t images = 0;
  std::int64_t bytes = 0;  ///< of images and their meta
  std::int64_t file_bytes = 0;
  bool usable = false;  ///< false: every put is dropped, every get a miss
};

class ImageCache {
 public:
  /// Opens or creates \p folder/images.db. Refuses, with one warning, a folder or file that others can write to or
  /// that belongs to somebody else: an image is code. Then, and when it cannot be written, the cache does nothing.
  explicit ImageCache(const std::filesystem::path& folder, ImageCacheOptions options = {});
  ~ImageCache();

  /// \p key: 64 lower-case hexadecimal digits. An image whose checksum is wrong is a miss and is removed.
  std::optional<Image> get(const std::string& key);
  /// Images larger than a quarter of the bound are not kept. Replaces what is kept under \p key.
  void put(const std::string& key, const std::string& bytes, const std::string& meta = "{}");
  ImageCacheStats stats();
  void clear();

 private:
  void write(const std::function<void()>& work);

  const ImageCacheOptions options_;
  const std::unique_ptr<Store> store_;
};

}  // namespace tuner::cache
