#include <tuner/backend/cuda/device_headers.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <vector>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/program_headers.hpp>
#include <tuner/core/host_functions.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

/// Headers that contain nothing for device code. They are empty here.
constexpr std::string_view kOfTheHost =
    "arpa/inet.h chrono cctype cerrno condition_variable csignal ctype.h deque dirent.h dlfcn.h errno.h exception "
    "fcntl.h filesystem fstream future getopt.h iomanip ios iosfwd iostream istream iterator libgen.h list locale "
    "locale.h map memory mutex netdb.h netinet/in.h new numeric omp.h ostream poll.h pthread.h queue random regex "
    "sched.h set signal.h sstream stack stdexcept streambuf string string_view strings.h sys/ioctl.h sys/mman.h "
    "sys/resource.h sys/socket.h sys/stat.h sys/time.h sys/types.h sys/wait.h thread typeinfo unistd.h unordered_map "
    "unordered_set vector";
/// Headers that the toolkit has as <cuda/std/…>.
constexpr std::string_view kOfTheToolkit =
    "array atomic bit complex functional numbers optional ratio span tuple variant";
constexpr std::string_view kBuiltIn = "initializer_list stdbool.h";

std::string of_the_toolkit(std::string_view name) {
  return "#pragma once\n#include <cuda/std/" + std::string(name) +
         ">\nnamespace std {\nusing namespace ::cuda::std;\n}\n";
}

/// The folders with the headers of a kernel's author.
std::vector<fs::path> own_folders(const CompileRequest& request) {
  std::vector<fs::path> folders{fs::path(request.file_name).parent_path()};
  folders.insert(folders.end(), request.include_paths.begin(), request.include_paths.end());
  return folders;
}

/// The names by which \p path can be included: one for each of \p folders.
std::vector<std::string> names_of(const fs::path& path, const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    const fs::path name =
        path.lexically_normal().lexically_relative(folder.empty() ? fs::path(".") : folder.lexically_normal());
    if (!name.empty() && path.is_absolute() == folder.is_absolute()) names.push_back(name.generic_string());
  }
  return names;
}

}  // namespace

DeviceHeaders device_headers(const CompileRequest& request) {
  std::set<std::string, std::less<>> taken;
  if (request.includes) {
    for (const IncludedFile& file : request.includes->files)
      for (std::string& name : names_of(file.path, own_folders(request))) taken.insert(std::move(name));
  }
  DeviceHeaders headers;
  const auto add = [&](std::string_view name, std::string text) {
    if (!taken.contains(name)) headers.add(std::string(name), std::move(text));
  };
  for (const HeaderFile& file : header_files()) add(file.name, std::string(file.text));
  const auto add_empty = [&](std::string_view name) { add(name, ""); };
  for_each_name(kOfTheHost, add_empty);
  for_each_name(kProgramHeaders, add_empty);
  for_each_name(kBuiltIn, add_empty);
  for_each_name(kOfTheToolkit, [&](std::string_view name) { add(name, of_the_toolkit(name)); });
  return headers;
}

namespace {

/// Adds the author's files, with their text as \p change returns it.
template <typename Change>
void add_own(const CompileRequest& request, DeviceHeaders& headers, Change change) {
  std::set<std::string, std::less<>> taken(headers.names.begin(), headers.names.end());
  std::map<std::string, int> bare;  // names without folders: files of the same folder include them by these
  for (const IncludedFile& file : request.includes->files) ++bare[fs::path(file.path).filename().generic_string()];
  std::vector<std::pair<std::string, const IncludedFile*>> wanted;
  const auto add_names = [&](const std::vector<fs::path>& folders) {
    for (const IncludedFile& file : request.includes->files)
      for (std::string& name : names_of(file.path, folders)) wanted.emplace_back(std::move(name), &file);
  };
  add_names(own_folders(request));
  for (const IncludedFile& file : request.includes->files)
    if (const std::string name = fs::path(file.path).filename().generic_string(); bare[name] == 1)
      wanted.emplace_back(name, &file);
  if (!request.carried.empty()) {
    std::set<fs::path> folders;
    for (const IncludedFile& file : request.includes->files) folders.insert(fs::path(file.path).parent_path());
    add_names({folders.begin(), folders.end()});
  }
  for (auto& [name, file] : wanted)
    if (taken.insert(name).second) headers.add(std::move(name), line_directive(1, file->path) + change(file->text));
}

}  // namespace

void add_without_host_functions(const CompileRequest& request, DeviceHeaders& headers) {
  if (!request.includes) return;
  std::vector<std::string_view> texts{request.source};
  for (const IncludedFile& file : request.includes->files) texts.push_back(file.text);
  add_own(request, headers, [&](const std::string& text) { return without_host_functions(text, texts); });
}

void add_carried(const CompileRequest& request, DeviceHeaders& headers) {
  add_own(request, headers, [](const std::string& text) { return text; });
}

std::string device_headers_version() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a, of eight bytes at a time
  const auto add = [&hash](std::string_view text) {
    const std::size_t size = text.size();
    for (std::uint64_t word = 0; !text.empty(); word = 0) {
      const std::size_t bytes = std::min(text.size(), sizeof word);
      std::memcpy(&word, text.data(), bytes);
      hash = (hash ^ word) * 1099511628211u;
      hash ^= hash >> 32;
      text.remove_prefix(bytes);
    }
    hash = (hash ^ size) * 1099511628211u;
  };
  for (const HeaderFile& file : header_files()) add(file.name), add(file.text);
  add(kOfTheHost);
  add(kProgramHeaders);
  add(kBuiltIn);
  add(kOfTheToolkit);
  add(of_the_toolkit(""));
  return fmt::format("{:016x}", hash);
}

}  // namespace tuner::cuda
