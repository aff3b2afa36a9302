#include <tuner/backend/cuda/driver/nvrtc.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

#include <cache/file/paths.hpp>

#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/core/values/passing.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

// Since 11.2, the library's name contains only the major version.
constexpr LibraryName kNames[] = {{"libnvrtc.so.13", 13}, {"libnvrtc.so.12", 12}, {"libnvrtc.so.11.2", 11}};

/// NVRTC opens its builtins by name, which the loader finds in NVRTC's folder only if they are open already.
void open_builtins(const fs::path& folder) {
  for (const fs::path& file : entries_starting_with(folder, "libnvrtc-builtins.so")) {
    if (Library(file, RTLD_LAZY | RTLD_GLOBAL)) return;
  }
}

/// Folders with the CUDA headers that belong to \p library.
std::vector<fs::path> header_folders(const fs::path& library) {
  std::error_code ignored;
  std::vector<fs::path> tried;
  for (const fs::path& file : {library, fs::canonical(library, ignored)}) {
    const fs::path folder = file.parent_path();
    tried.push_back(folder.parent_path() / "include");
    tried.push_back(folder.parent_path().parent_path() / "include");
    tried.push_back(folder.parent_path().parent_path().parent_path() / "include");
    tried.push_back(folder.parent_path().parent_path() / "cuda_runtime/include");  // Python packages of CUDA 12
  }
  for (const fs::path& toolkit : toolkit_folders()) tried.push_back(toolkit / "include");
  tried.emplace_back("/usr/include");
  for (const fs::path& folder : tried) {
    if (!fs::exists(folder / "cuda_fp16.h", ignored)) continue;
    std::vector<fs::path> found{folder};
    if (fs::exists(folder / "cccl", ignored)) found.push_back(folder / "cccl");  // <cuda/std/...> since 13.0
    return found;
  }
  return {};
}

/// The value that \p file defines for \p macro; empty if it defines none.
std::string defined_in(const fs::path& file, const std::string& macro) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    if (words >> define >> name >> value && define == "#define" && name == macro) return value;
  }
  return {};
}

/// The versions in \p folders: of the toolkit's headers, and of CUB and libcu++, which may be newer.
std::string headers_version(const std::vector<fs::path>& folders) {
  std::string version;
  for (const fs::path& folder : folders) {
    for (const auto& [file, macro] :
         {std::pair{"cuda_runtime_api.h", "CUDART_VERSION"}, std::pair{"cub/version.cuh", "CUB_VERSION"}}) {
      const std::string value = defined_in(folder / file, macro);
      if (!value.empty()) version += (version.empty() ? "" : " ") + std::string(macro) + ' ' + value;
    }
  }
  return version;
}

/// Fills in \p table. Returns why \p file cannot be used; empty: it can.
std::string try_load(const fs::path& file, Nvrtc& table) {
  if (file.has_parent_path()) open_builtins(file.parent_path());
  Library library(file);  // binds functions when they are called: binding all of its 100 MB would take 25 ms
  if (!library) return library.error();
  TUNER_NVRTC_FUNCTIONS(TUNER_REQUIRE)
  if (!library.missing().empty())
    return file.string() + ": lacks " + library.missing() + " (NVRTC 11.2 or newer is needed)";
  (void)library.bind("nvrtcSetPCHHeapSize", table.set_pch_heap_size);
  int major = 0, minor = 0, count = 0;
  if (table.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS || table.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS)
    return file.string() + ": its version cannot be read";
  table.version = major * 1000 + minor * 10;
  table.architectures.resize(static_cast<std::size_t>(count));
  if (table.nvrtcGetSupportedArchs(table.architectures.data()) != NVRTC_SUCCESS)
    return file.string() + ": its architectures cannot be read";
  std::sort(table.architectures.begin(), table.architectures.end());
  table.library = library.file();
  table.includes = header_folders(table.library);
  table.headers = headers_version(table.includes);
  return {};
}

bool knows_all(const Nvrtc& nvrtc, const std::vector<int>& capabilities) {
  return std::all_of(capabilities.begin(), capabilities.end(), [&](int capability) {
    return std::binary_search(nvrtc.architectures.begin(), nvrtc.architectures.end(), capability);
  });
}

NvrtcSearch process_search(const std::vector<int>& gpus = {}) {
  static std::mutex& asking = *new std::mutex;
  static auto& certain = *new std::optional<NvrtcSearch>;
  const std::lock_guard lock(asking);
  if (certain) return *certain;
  NvrtcSearch search{environment("TUNER_NVRTC"), driver_version() / 1000,
                     gpus.empty() ? query_compute_capabilities() : gpus};
  if (!gpus.empty() || !driver_status().passing) certain = search;
  return search;
}

std::optional<fs::path> facts_file() {
  const auto folder = cache::user_cache_dir();
  return folder ? std::optional(*folder / "nvrtc") : std::nullopt;
}

/// Searches until one is found, which stays. Until then returns null, and \p why_not gets the reason.
const Nvrtc* process_nvrtc(const std::vector<int>& gpus = {}, std::string* why_not = nullptr) {
  // Never destroyed, because destructors of static objects may launch kernels.
  static std::atomic<const Nvrtc*> kept{nullptr};
  if (const Nvrtc* const known = kept.load(std::memory_order_acquire)) return known;
  static std::mutex& searching = *new std::mutex;
  const std::lock_guard lock(searching);
  if (const Nvrtc* const known = kept.load(std::memory_order_relaxed)) return known;
  const NvrtcSearch search = process_search(gpus);
  auto found = load_nvrtc(search);
  if (std::string* const reason = std::get_if<std::string>(&found)) {
    if (why_not != nullptr) *why_not = std::move(*reason);
    return nullptr;
  }
  auto nvrtc = std::make_unique<const Nvrtc>(std::get<Nvrtc>(std::move(found)));
  const auto file = facts_file();
  if (file && !read_nvrtc_facts(*file, search)) write_nvrtc_facts(*file, search, *nvrtc);
  kept.store(nvrtc.get(), std::memory_order_release);
  return nvrtc.release();
}

constexpr const char* kTitle = "tuner nvrtc 1";
constexpr const char* kEndOfSearch = "found";

/// Size, time of the last change, and inode of \p file, zeros if it does not exist; and its path.
std::string stamped(const fs::path& file) {
  const cache::FileStamp stamp = cache::real_disk().stamp_of(file);
  std::ostringstream text;
  text << stamp.bytes << ' ' << stamp.written_ns << ' ' << stamp.identity.second << "  " << file.string();
  return text.str();
}

}  // namespace

std::vector<fs::path> nvrtc_candidates(const NvrtcSearch& search) {
  std::vector<fs::path> files;
  // The packages nvidia-cuda-nvrtc (CUDA 13) and nvidia-cuda-nvrtc-cu12.
  const std::vector<const char*> packages{"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
  if (search.requested == "python") {
    for (const fs::path& folder : python_package_folders(packages)) add_libraries(kNames, folder, files);
    return files;
  }
  if (!search.requested.empty()) return requested_libraries(kNames, search.requested);
  for (const fs::path& toolkit : toolkit_folders()) {
    for (const char* folder : kLibraryFolders) add_libraries(kNames, toolkit / folder, files);
  }
  for (const fs::path& folder : package_folders_beside(cache::installation_prefixes(), packages))
    add_libraries(kNames, folder, files);
  for (const LibraryName& name : kNames) files.emplace_back(name.file);
  put_newer_last(kNames, search.newest_major, files);
  return files;
}

std::variant<Nvrtc, std::string> load_nvrtc(const NvrtcSearch& search) {
  std::string reasons;
  std::optional<Nvrtc> first;
  for (const fs::path& file : nvrtc_candidates(search)) {
    Nvrtc nvrtc;
    const std::string reason = try_load(file, nvrtc);
    if (reason.empty() && knows_all(nvrtc, search.capabilities)) return nvrtc;
    if (reason.empty() && !first) first = std::move(nvrtc);
    reasons += "\n  " + reason;
  }
  if (first) return *std::move(first);
  if (reasons.empty()) {
    reasons = "\n  " + (search.requested == "python" ? "no Python package nvidia-cuda-nvrtc"
                                                     : "no libnvrtc.so.13, .12 or .11.2 in " + search.requested);
  }
  return "NVRTC, the CUDA run-time compiler, was not found. Install the CUDA toolkit, or set TUNER_NVRTC to "
         "libnvrtc.so, to its folder, or to `python` for the package nvidia-cuda-nvrtc. tuner's own Python package "
         "finds that package beside itself (`pip install nvidia-cuda-nvrtc`). Tried:" +
         reasons;
}

const Nvrtc* find_nvrtc() { return process_nvrtc(); }

const Nvrtc& nvrtc(const std::vector<int>& gpus) {
  std::string why_not;
  if (const Nvrtc* const found = process_nvrtc(gpus, &why_not)) return *found;
  if (is_passing(why_not)) throw Passing(ErrorCode::compiler, "NVRTC cannot be loaded now. " + with_advice(why_not));
  throw NvrtcError(why_not);
}

const NvrtcFacts* find_nvrtc_facts() {
  static const auto& kept = *new const std::optional<NvrtcFacts>([]() -> std::optional<NvrtcFacts> {
    const auto file = facts_file();
    return file ? read_nvrtc_facts(*file, process_search()) : std::nullopt;
  }());
  return kept ? &*kept : find_nvrtc();
}

std::string nvrtc_search_text(const NvrtcSearch& search) {
  std::ostringstream text;
  text << "asked " << search.requested << "\nloader " << environment("LD_LIBRARY_PATH") << "\nmajor "
       << search.newest_major << "\ncapabilities";
  for (const int capability : search.capabilities) text << ' ' << capability;
  for (const fs::path& file : nvrtc_candidates(search)) text << '\n' << stamped(file);
  return text.str() + '\n';
}

void write_nvrtc_facts(const fs::path& file, const NvrtcSearch& search, const Nvrtc& nvrtc, cache::Disk& disk) {
  std::ostringstream text;
  text << kTitle << '\n' << nvrtc_search_text(search) << kEndOfSearch << '\n' << stamped(nvrtc.library) << '\n';
  for (const fs::path& folder : nvrtc.includes)
    for (const char* header : {"cuda_runtime_api.h", "cub/version.cuh"}) text << stamped(folder / header) << '\n';
  text << "version " << nvrtc.version << "\narchitectures";
  for (const int architecture : nvrtc.architectures) text << ' ' << architecture;
  text << "\nheaders " << nvrtc.headers << '\n';

  (void)disk.replace(file, text.str());
}

std::optional<NvrtcFacts> read_nvrtc_facts(const fs::path& file, const NvrtcSearch& search, cache::Disk& disk) {
  std::string written;
  if (disk.read(file, cache::kMaxTextBytes, written) || !written.ends_with('\n')) return std::nullopt;
  std::istringstream text(written);
  std::string line, searched;
  if (!std::getline(text, line) || line != kTitle) return std::nullopt;
  while (std::getline(text, line) && line != kEndOfSearch) searched += line + '\n';
  if (searched != nvrtc_search_text(search)) return std::nullopt;
  NvrtcFacts facts;
  while (std::getline(text, line)) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space), rest = space == line.npos ? "" : line.substr(space + 1);
    std::istringstream numbers(rest);
    if (word == "version") {
      numbers >> facts.version;
    } else if (word == "architectures") {
      for (int number = 0; numbers >> number;) facts.architectures.push_back(number);
    } else if (word == "headers") {
      facts.headers = rest;
      return facts.version > 0 && !facts.architectures.empty() ? std::optional(facts) : std::nullopt;
    } else if (const std::size_t path = line.find("  "); path == line.npos || stamped(line.substr(path + 2)) != line) {
      return std::nullopt;
    }
  }
  return std::nullopt;  // a part of it is missing
}

}  // namespace tuner::cuda
