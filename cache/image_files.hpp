#pragma once
/// Compiled images as programs are served with them: one file for each, `images/ARCHITECTURE/KEY`, beside the shipped
/// wisdom and in the user's cache folder. Nothing is opened but the file that is asked for. (What tuning compiles is in
/// the ImageCache.)

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <cache/error.hpp>
#include <cache/image_cache.hpp>

namespace tuner::cache {

/// Offers \p accept the images of \p key for \p architecture ("sm_90") in shipped_places(), then in the user's cache
/// folder, until it takes one. An image that is damaged, or that anyone but this user and root could have changed, is
/// passed over with a warning.
bool find_image(const std::string& architecture, const std::string& key,
                const std::function<bool(const Image&)>& accept, const WarningSink& warn);
/// The architectures that have images there, by name.
std::vector<std::string> image_architectures();

std::filesystem::path image_file(const std::filesystem::path& folder, const std::string& architecture,
                                 const std::string& key);
/// Writes it to \p folder, whole or not at all. Throws CacheError.
void write_image(const std::filesystem::path& folder, const std::string& architecture, const std::string& key,
                 const Image& image);
/// Writes it to the user's cache folder, where there is one that can be written to, and removes the oldest there when
/// they become too many.
void keep_image(const std::string& architecture, const std::string& key, const Image& image);

struct KeptImages {
  std::int64_t images = 0, bytes = 0;
};
/// Those in the user's cache folder \p folder.
KeptImages kept_images(const std::filesystem::path& folder);
void remove_kept_images(const std::filesystem::path& folder);

}  // namespace tuner::cache
