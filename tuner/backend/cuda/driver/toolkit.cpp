#include <tuner/backend/cuda/driver/toolkit.hpp>

#include <link.h>

#include <algorithm>
#include <cstdlib>

#include <cache/file/disk.hpp>
#include <cache/file/paths.hpp>

namespace tuner::cuda {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<fs::path> entries_starting_with(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> found;
  for (const cache::Disk::Entry& entry : cache::real_disk().list(parent))
    if (entry.path.filename().string().starts_with(prefix)) found.push_back(entry.path);
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const std::string value = environment(variable); !value.empty()) folders.emplace_back(value);
  }
  folders.emplace_back("/usr/local/cuda");
  for (fs::path& folder : entries_starting_with("/usr/local", "cuda-")) folders.push_back(std::move(folder));
  return folders;
}

std::vector<fs::path> package_folders_beside(const std::vector<fs::path>& prefixes,
                                             const std::vector<const char*>& packages) {
  std::vector<fs::path> folders;
  for (const fs::path& prefix : prefixes) {
    // In a wheel it is `site-packages/tuner`, and for the worker there `site-packages/tuner/libexec`.
    for (const fs::path& site : {prefix.parent_path(), prefix.parent_path().parent_path()})
      if (site.filename() == "site-packages" || site.filename() == "dist-packages")  // anybody may write to /tmp
        for (const char* package : packages) folders.push_back(site / package);
  }
  return folders;
}

std::vector<fs::path> python_package_folders(const std::vector<const char*>& packages) {
  std::vector<fs::path> roots;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string value = environment(variable); !value.empty()) roots.push_back(fs::path(value) / "lib");
  }
  if (const std::string home = environment("HOME"); !home.empty()) roots.push_back(fs::path(home) / ".local/lib");
  roots.insert(roots.end(), {"/usr/local/lib", "/usr/lib"});
  std::vector<fs::path> folders = package_folders_beside(cache::installation_prefixes(), packages);
  for (const fs::path& root : roots) {
    for (const fs::path& python : entries_starting_with(root, "python3")) {
      for (const char* site : {"site-packages", "dist-packages"}) {
        for (const char* package : packages) folders.push_back(python / site / package);
      }
    }
  }
  return folders;
}

Library::Library(const fs::path& file, int flags) : handle_(::dlopen(file.c_str(), flags)) {
  if (handle_ != nullptr) return;
  const char* const error = ::dlerror();
  error_ = error != nullptr ? error : file.string() + ": cannot be loaded";
}

fs::path Library::file() const {
  const link_map* map = nullptr;
  return ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

void* Library::find(const char* name) const { return ::dlsym(handle_, name); }

void add_libraries(LibraryNames names, const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code ignored;
  for (const LibraryName& name : names) {
    const fs::path file = folder / name.file;
    if (fs::exists(file, ignored) && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
}

std::vector<fs::path> requested_libraries(LibraryNames names, const fs::path& requested) {
  std::error_code ignored;
  if (!fs::is_directory(requested, ignored)) return {requested};
  std::vector<fs::path> files;
  add_libraries(names, requested, files);
  return files;
}

void put_newer_last(LibraryNames names, int newest_major, std::vector<fs::path>& files) {
  if (newest_major == 0) return;
  std::stable_partition(files.begin(), files.end(), [&](const fs::path& file) {
    return std::none_of(names.begin(), names.end(), [&](const LibraryName& name) {
      return file.filename() == name.file && name.major > newest_major;
    });
  });
}

}  // namespace tuner::cuda
