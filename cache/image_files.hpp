#pragma once
/// Compiled images that calls are served with, one file each: `images/ARCHITECTURE/KEY`, beside the shipped wisdom and
/// in the user's cache folder. Opens only the file that is asked for. (Tuning keeps its images in the ImageCache.)

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <cache/error.hpp>
#include <cache/image_cache.hpp>

namespace tuner::cache {

/// Offers the images of \p key for \p architecture ("sm_90") to \p accept until it returns true. Looks in
/// shipped_places() first, then in the user's cache folder. Skips, with a warning, images that are damaged or that
/// anyone except this user and root could have changed.
bool find_image(const std::string& architecture, const std::string& key,
                const std::function<bool(const Image&)>& accept, const WarningSink& warn);
/// The architectures with images in these folders, sorted by name.
std::vector<std::string> image_architectures();

std::filesystem::path image_file(const std::filesystem::path& folder, const std::string& architecture,
                                 const std::string& key);
/// Writes the image to \p folder, whole or not at all. Throws CacheError.
void write_image(const std::filesystem::path& folder, const std::string& architecture, const std::string& key,
                 const Image& image);
/// Writes the image to the user's cache folder, if that can be written to. Removes the older half when there are too
/// many.
void keep_image(const std::string& architecture, const std::string& key, const Image& image);

struct KeptImages {
  std::int64_t images = 0, bytes = 0;
};
/// The images in the user's cache folder \p folder.
KeptImages kept_images(const std::filesystem::path& folder);
void remove_kept_images(const std::filesystem::path& folder);

}  // namespace tuner::cache
