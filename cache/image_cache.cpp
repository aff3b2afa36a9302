#include <cache/image_cache.hpp>

#include <system_error>

#include <fmt/format.h>

#include <cache/stamps.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr int kImagesId = 0x43415449;  // 'CATI'
constexpr int kImagesVersion = 1;
constexpr const char* kImagesSchema = R"(
CREATE TABLE image(
  key TEXT PRIMARY KEY CHECK(length(key) = 64),
  bytes BLOB NOT NULL,
  meta TEXT NOT NULL,
  size INTEGER NOT NULL,  -- of bytes and meta
  crc INTEGER NOT NULL,
  used_ms INTEGER NOT NULL) STRICT;
CREATE INDEX image_used ON image(used_ms, size);
)";
/// The time of last use is at most this old, so that reading an image rarely writes.
constexpr std::int64_t kTouchMs = 60 * 60 * 1000;

std::int64_t image_checksum(const std::string& key, const std::string& bytes, const std::string& meta) {
  return crc32(bytes, crc32(meta, crc32(key + std::to_string(bytes.size()))));
}

FileKind image_kind() {
  return {.what = "image cache",
          .application_id = kImagesId,
          .version = kImagesVersion,
          .schema = kImagesSchema,
          .memory_fallback = false,
          .durable = false,
          .must_be_private = true,
          .own_place = true};
}

std::int64_t total(Store& store) { return number(store.connection(), "SELECT coalesce(sum(size), 0) FROM image"); }

/// Keeps the images that were used last and take at most \p bytes together.
void keep(Store& store, std::int64_t bytes) {
  Query(store,
        "DELETE FROM image WHERE key IN (SELECT key FROM (SELECT key, sum(size) OVER (ORDER BY used_ms DESC, key) AS "
        "kept FROM image) WHERE kept > ?)",
        bytes)
      .run();
}

}  // namespace

ImageCache::ImageCache(const fs::path& folder, ImageCacheOptions options)
    : options_(std::move(options)),
      // No check when it is opened: every image has a checksum.
      store_(std::make_unique<Store>(image_kind(), folder / "images.db", Store::Mode::read_write,
                                     OpenOptions{.warn = options_.warn, .check_bytes = 0})) {}
ImageCache::~ImageCache() = default;

/// The cache is a convenience: its errors become warnings.
void ImageCache::write(const std::function<void()>& work) {
  try {
    store_->write(work);
  } catch (const CacheError& error) {
    store_->warn_once("write", error.what());
  }
}

std::optional<Image> ImageCache::get(const std::string& key) {
  auto& store = *store_;
  bool damaged = false;
  std::int64_t used = 0;
  const auto now = now_ms();
  auto image = store.read([&]() -> std::optional<Image> {
    Query row(store, "SELECT bytes, meta, crc, used_ms FROM image WHERE key = ?", key);
    if (!row.next()) return std::nullopt;
    Image found{row.text(), row.text()};
    damaged = image_checksum(key, found.bytes, found.meta) != row.integer();
    used = row.integer();
    if (damaged) return std::nullopt;
    return found;
  });
  if (damaged) {
    store.warn_once("image", fmt::format("image cache {}: a damaged image was removed", store.path().string()));
    write([&] { Query(store, "DELETE FROM image WHERE key = ?", key).run(); });
  } else if (image && (now - used > kTouchMs || used > now)) {
    write([&] { Query(store, "UPDATE image SET used_ms = ? WHERE key = ?", now, key).run(); });
  }
  return image;
}

void ImageCache::put(const std::string& key, const std::string& bytes, const std::string& meta) {
  if (key.size() != 64 || key.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw CacheError(fmt::format("'{}' is not the key of an image (64 lower-case hexadecimal digits)", key));
  }
  const auto size = static_cast<std::int64_t>(bytes.size() + meta.size());
  if (size > options_.max_bytes / 4) return;
  auto& store = *store_;
  const auto crc = image_checksum(key, bytes, meta);
  write([&] {
    Query(store,
          "INSERT INTO image(key, bytes, meta, size, crc, used_ms) VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE "
          "SET (bytes, meta, size, crc, used_ms) = (excluded.bytes, excluded.meta, excluded.size, excluded.crc, "
          "excluded.used_ms)",
          key, Blob{bytes}, meta, size, crc, now_ms())
        .run();
    if (total(store) > options_.max_bytes) keep(store, options_.max_bytes / 10 * 9);
  });
}

ImageCacheStats ImageCache::stats() {
  auto& store = *store_;
  auto result = store.read([&] {
    ImageCacheStats stats;
    stats.images = number(store.connection(), "SELECT count(*) FROM image");
    stats.bytes = total(store);
    return stats;
  });
  std::error_code error;
  const auto file_bytes = fs::file_size(store.path(), error);
  result.file_bytes = error ? 0 : static_cast<std::int64_t>(file_bytes);
  result.usable = store.usable();
  return result;
}

void ImageCache::clear() {
  write([&] { Query(*store_, "DELETE FROM image").run(); });
}

}  // namespace tuner::cache
