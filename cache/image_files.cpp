#include <cache/image_files.hpp>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <cache/exchange.hpp>
#include <cache/paths.hpp>
#include <cache/stamps.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr const char* kImages = "images";
constexpr const char* kTitle = "tuner image 1";
/// For one architecture in the user's cache folder. A program needs a few dozen images.
constexpr std::size_t kMostKept = 1024;

/// The folders that may contain images.
std::vector<fs::path> image_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::path& place : shipped_places())
    folders.push_back((fs::is_regular_file(place, error) ? place.parent_path() : place) / kImages);
  if (const auto user = user_cache_dir()) folders.push_back(*user / kImages);
  return folders;
}

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

std::vector<fs::directory_entry> entries(const fs::path& folder) {
  std::vector<fs::directory_entry> found;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    found.push_back(*entry);
  return found;
}

/// Removes the older half when there are too many files; the newer ones are more likely to be needed.
void remove_old(const fs::path& folder) {
  const std::vector<fs::directory_entry> all = entries(folder);
  if (all.size() <= kMostKept) return;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (const fs::directory_entry& entry : all) files.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size() - kMostKept / 2; ++i) fs::remove(files[i].second, error);
}

}  // namespace

bool find_image(const std::string& architecture, const std::string& key,
                const std::function<bool(const Image&)>& accept, const WarningSink& warn) {
  const auto user = user_cache_dir();
  for (const fs::path& folder : image_folders()) {
    const fs::path path = folder / architecture / key;
    std::ifstream file(path, std::ios::binary);
    std::error_code error;
    const std::uintmax_t size = file ? fs::file_size(path, error) : 0;
    if (!file || error) continue;
    auto why = exposure_of(path, /*installed=*/!user || folder.parent_path() != *user);
    if (!why) {
      std::string text(size, '\0');
      file.read(text.data(), static_cast<std::streamsize>(size));
      const auto image = image_in(text, key);
      if (image && accept(*image)) return true;
      if (image) continue;
      why = path.string() + " is damaged";
    }
    if (warn) warn(fmt::format("a compiled image is passed over: {}", *why));
  }
  return false;
}

std::vector<std::string> image_architectures() {
  std::vector<std::string> names;
  for (const fs::path& folder : image_folders())
    for (const fs::directory_entry& entry : entries(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

fs::path image_file(const fs::path& folder, const std::string& architecture, const std::string& key) {
  return folder / kImages / architecture / key;
}

void write_image(const fs::path& folder, const std::string& architecture, const std::string& key, const Image& image) {
  const fs::path file = image_file(folder, architecture, key);
  make_folder(file.parent_path(), 0755);
  write_text(file, head_of(key, image) + image.bytes);
}

void keep_image(const std::string& architecture, const std::string& key, const Image& image) {
  const auto folder = user_cache_dir();
  const fs::path file = folder ? image_file(*folder, architecture, key) : fs::path();
  if (!folder || !make_private_folder(file.parent_path()) || exposure_of(file.parent_path())) return;
  try {
    write_image(*folder, architecture, key, image);
  } catch (const CacheError&) {  // the next process compiles it again
  }
  remove_old(file.parent_path());
}

KeptImages kept_images(const fs::path& folder) {
  KeptImages kept;
  for (const fs::directory_entry& architecture : entries(folder / kImages))
    for (const fs::directory_entry& file : entries(architecture.path())) {
      std::error_code error;
      ++kept.images;
      kept.bytes += static_cast<std::int64_t>(file.file_size(error));
    }
  return kept;
}

void remove_kept_images(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder / kImages, error);
}

}  // namespace tuner::cache
