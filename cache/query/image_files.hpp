#pragma once
/// Compiled images, one file each: `images/ARCHITECTURE/KEY`, beside the shipped wisdom and in the user's cache folder.
/// A call is served from either; tuning keeps what it compiles in the latter. Opens only the requested file.
///
/// An image is code: it is used only when nobody except this user and root can change its file or a folder above it.
/// Images can be compiled again, so nothing here throws because of a file, and a power cut may destroy some.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cache/file/disk.hpp>

namespace tuner::cache {

struct Image {
  std::string bytes;
  std::string meta;  ///< JSON text without line ends: resources, compiler log …
};

/// Offers the images of \p key for \p architecture ("sm_90") to \p accept until it returns true. Looks in
/// shipped_places() first, then in the user's cache folder. Skips, with a warning, images that are damaged or that
/// others could have changed. An image that cannot be read now counts as missing: it can be compiled, and nothing is
/// remembered here.
bool find_image(const std::string& architecture, const std::string& key,
                const std::function<bool(const Image&)>& accept, const WarningSink& warn, Disk& disk = real_disk());
/// The same for the image that keep_image() wrote to \p folder.
std::optional<Image> kept_image(const std::filesystem::path& folder, const std::string& architecture,
                                const std::string& key, const WarningSink& warn, Disk& disk = real_disk());
/// The architectures with images in these folders, sorted by name.
std::vector<std::string> image_architectures();

std::filesystem::path image_file(const std::filesystem::path& folder, const std::string& architecture,
                                 const std::string& key);
/// Writes an image for everybody to \p folder, whole or not at all. Throws CacheError.
void write_image(const std::filesystem::path& folder, const std::string& architecture, const std::string& key,
                 const Image& image, Disk& disk = real_disk());
/// Writes an image for this user alone to the cache folder \p folder. Explains why that is not possible. Removes the
/// older half of an architecture's images when they take more than \p most_bytes.
Failure keep_image(const std::filesystem::path& folder, const std::string& architecture, const std::string& key,
                   const Image& image, std::int64_t most_bytes = std::int64_t{512} << 20, Disk& disk = real_disk());

struct KeptImages {
  std::int64_t images = 0, bytes = 0;
};
/// The images in the user's cache folder \p folder.
KeptImages kept_images(const std::filesystem::path& folder);
void remove_kept_images(const std::filesystem::path& folder);

}  // namespace tuner::cache
