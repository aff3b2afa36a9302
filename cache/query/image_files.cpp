#include <cache/query/image_files.hpp>

#include <algorithm>
#include <atomic>
#include <system_error>

#include <unistd.h>

#include <fmt/format.h>

#include <cache/file/paths.hpp>
#include <cache/records/sha256.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr const char* kImages = "images";
constexpr const char* kTitle = "tuner image 1";
constexpr std::size_t kMostBytesOfImage = std::size_t{256} << 20;
/// A folder's size is looked at only once for this many images that a process keeps.
constexpr unsigned kLooksEvery = 64;

/// The first line: a title, a checksum, and the image's meta, which contains no line end.
std::string head_of(const std::string& key, const Image& image) {
  return fmt::format("{} {} {}\n", kTitle, crc32(image.bytes, crc32(image.meta, crc32(key))), image.meta);
}

/// Returns nullopt when \p text is not a sound image for \p key.
std::optional<Image> image_in(const std::string& text, const std::string& key) {
  const std::size_t end = text.find('\n');
  const std::size_t meta = text.find('{');
  if (end == std::string::npos || meta > end) return std::nullopt;
  Image image{text.substr(end + 1), text.substr(meta, end - meta)};
  if (text.compare(0, end + 1, head_of(key, image)) != 0) return std::nullopt;
  return image;
}

/// Reads \p file; nullopt, with a warning, when it is damaged or exposed. \p installed: root may own it.
std::optional<Image> read_image(const fs::path& file, bool installed, const WarningSink& warn, Disk& disk) {
  std::string text;
  if (disk.read(file, kMostBytesOfImage, text)) return std::nullopt;
  auto why = disk.exposure_of(file, installed);
  if (!why) {
    auto image = image_in(text, file.filename());
    if (image) return image;
    why = file.string() + " is damaged";
  }
  if (warn) warn(fmt::format("a compiled image is ignored: {}", *why));
  return std::nullopt;
}

/// The folders that may contain images: those of shipped wisdom, then the user's.
std::vector<fs::path> image_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::path& place : shipped_places())
    folders.push_back(fs::is_regular_file(place, error) ? place.parent_path() : place);
  if (const auto user = user_cache_dir()) folders.push_back(*user);
  return folders;
}

/// Removes the older half of the images when all of them take too much; the newer ones are more likely to be needed.
void remove_old(const fs::path& folder, std::int64_t most_bytes, Disk& disk) {
  remove_parts(folder, disk);
  auto files = disk.list(folder);
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.stamp.written_ns > b.stamp.written_ns; });
  std::int64_t bytes = 0;
  for (const Disk::Entry& file : files) bytes += file.stamp.bytes;
  if (bytes <= most_bytes) return;
  bytes = 0;
  for (const Disk::Entry& file : files)
    if ((bytes += file.stamp.bytes) > most_bytes / 2) disk.remove(file.path);
}

}  // namespace

bool find_image(const std::string& architecture, const std::string& key,
                const std::function<bool(const Image&)>& accept, const WarningSink& warn, Disk& disk) {
  const auto user = user_cache_dir();
  for (const fs::path& folder : image_folders()) {
    const auto image = read_image(image_file(folder, architecture, key), folder != user, warn, disk);
    if (image && accept(*image)) return true;
  }
  return false;
}

std::optional<Image> kept_image(const fs::path& folder, const std::string& architecture, const std::string& key,
                                const WarningSink& warn, Disk& disk) {
  return read_image(image_file(folder, architecture, key), /*installed=*/false, warn, disk);
}

std::vector<std::string> image_architectures() {
  std::vector<std::string> names;
  for (const fs::path& folder : image_folders())
    for (const auto& entry : real_disk().list(folder / kImages)) names.push_back(entry.path.filename().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

fs::path image_file(const fs::path& folder, const std::string& architecture, const std::string& key) {
  return folder / kImages / architecture / key;
}

void write_image(const fs::path& folder, const std::string& architecture, const std::string& key, const Image& image,
                 Disk& disk) {
  const fs::path file = image_file(folder, architecture, key);
  (void)disk.make_folder(file.parent_path(), 0755);
  // A damaged one is ignored, so that it need not outlast a power cut.
  if (const auto why = disk.replace(file, head_of(key, image) + image.bytes, 0644))
    throw CacheError(fmt::format("{} cannot be written: {}", file.string(), *why));
}

Failure keep_image(const fs::path& folder, const std::string& architecture, const std::string& key, const Image& image,
                   std::int64_t most_bytes, Disk& disk) {
  const fs::path file = image_file(folder, architecture, key);
  if (auto failure = disk.make_folder(file.parent_path(), 0700)) return failure;
  if (auto exposure = disk.exposure_of(file.parent_path())) return exposure;
  static std::atomic<unsigned> kept{static_cast<unsigned>(::getpid())};  // few first calls of processes do the work
  if (kept++ % kLooksEvery == 0) remove_old(file.parent_path(), most_bytes, disk);
  return disk.replace(file, head_of(key, image) + image.bytes, 0600);
}

KeptImages kept_images(const fs::path& folder) {
  KeptImages kept;
  for (const auto& architecture : real_disk().list(folder / kImages))
    for (const auto& file : real_disk().list(architecture.path)) {
      ++kept.images;
      kept.bytes += file.stamp.bytes;
    }
  return kept;
}

void remove_kept_images(const fs::path& folder) { real_disk().remove(folder / kImages); }

}  // namespace tuner::cache
