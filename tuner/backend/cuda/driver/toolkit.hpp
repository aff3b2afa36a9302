#pragma once
/// Finds CUDA's toolkits and libraries on this machine, and the functions in them by name.

#include <dlfcn.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cuda {

/// Folders of a toolkit that hold its libraries.
inline constexpr const char* kLibraryFolders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

/// The value of an environment variable; empty when it is not set.
std::string environment(const char* name);

/// The entries of \p parent whose names start with \p prefix, the highest name first.
std::vector<std::filesystem::path> entries_starting_with(const std::filesystem::path& parent, std::string_view prefix);

/// $CUDA_PATH, $CUDA_HOME, /usr/local/cuda*, best first. They need not exist.
std::vector<std::filesystem::path> toolkit_folders();

/// The folders \p packages ("nvidia/cu13/lib") of the Python installations that tuner itself is a package of, with one
/// of \p prefixes (cache::installation_prefixes()). They need not exist.
std::vector<std::filesystem::path> package_folders_beside(const std::vector<std::filesystem::path>& prefixes,
                                                          const std::vector<const char*>& packages);

/// package_folders_beside(), then the same folders of every other Python installation, best first.
std::vector<std::filesystem::path> python_package_folders(const std::vector<const char*>& packages);

// For a table of functions that are bound at run time: a member for each, typed by its header, and the binding of one
// in `table`. The name is expanded first: cuda.h maps many to their current version (cuMemAlloc to cuMemAlloc_v2).
#define TUNER_MEMBER(name) decltype(&::name) name = nullptr;
#define TUNER_NAME(name) #name
#define TUNER_REQUIRE(name) library.require(TUNER_NAME(name), table.name);

/// A library that is opened at run time and never closed.
class Library {
 public:
  /// Opens \p file, with the \p flags of dlopen(). The loader searches for a name without a folder.
  explicit Library(const std::filesystem::path& file, int flags = RTLD_LAZY);
  /// Whether it is open. If not, error() has the reason.
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }
  /// The file that was loaded, once it is open.
  std::filesystem::path file() const;

  /// Sets \p function to the function called \p name, or to null. Precondition: the library is open.
  template <typename Function>
  bool bind(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(find(name));
    return function != nullptr;
  }
  /// The same. Afterwards, missing() is the first name that was not found; empty if all were.
  template <typename Function>
  void require(const char* name, Function*& function) {
    if (!bind(name, function) && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* find(const char* name) const;

  void* handle_ = nullptr;
  std::string error_, missing_;
};

/// A library's file name in one version of CUDA.
struct LibraryName {
  const char* file;
  int major;
};
using LibraryNames = std::span<const LibraryName>;

/// Adds the libraries \p names that exist in \p folder to \p files, each once.
void add_libraries(LibraryNames names, const std::filesystem::path& folder, std::vector<std::filesystem::path>& files);
/// If \p requested is a folder, the libraries \p names in it; else \p requested itself.
std::vector<std::filesystem::path> requested_libraries(LibraryNames names, const std::filesystem::path& requested);
/// Moves files of CUDA versions above \p newest_major (0: any) to the end of \p files.
void put_newer_last(LibraryNames names, int newest_major, std::vector<std::filesystem::path>& files);

}  // namespace tuner::cuda
