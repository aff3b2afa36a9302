#include <tuner/backend/cuda/cupti.hpp>

#include <filesystem>
#include <utility>
#include <variant>

#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

constexpr LibraryName kCuptiNames[] = {{"libcupti.so.13", 13}, {"libcupti.so.12", 12}};

/// Fills in \p table; the reason when \p file cannot be used.
std::string try_cupti(const fs::path& file, Cupti& table) {
  // CUPTI opens its helper by name, which the loader finds in CUPTI's folder only if it is open already.
  if (file.has_parent_path()) static_cast<void>(Library(file.parent_path() / "libnvperf_host.so"));
  Library library(file);
  if (!library) return library.error();
  TUNER_CUPTI_FUNCTIONS(TUNER_REQUIRE)
  if (!library.missing().empty())
    return file.string() + ": lacks " + library.missing() + " (CUDA 12.6 or newer is needed)";
  if (table.cuptiGetVersion(&table.version) != CUPTI_SUCCESS) return file.string() + ": does not answer";
  table.library = library.file();
  return {};
}

/// Why \p call failed with \p result, and what to do about it.
std::string why_no_counters(const Cupti& cupti, CUptiResult result, const char* call) {
  const std::string code = " (CUPTI error " + std::to_string(static_cast<int>(result)) + ")";
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "the driver does not let this process read hardware counters" + code + ": " + permission_cure();
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "the host of this virtual machine does not let it read hardware counters" + code +
             ": its operator has to allow profiling for the virtual GPU (enable_profiling=1)";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "a virtual GPU of this kind has no hardware counters" + code + ": count on a machine with the whole GPU";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "hardware counters are locked in confidential computing" + code + ": count on a machine without it";
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
      return "mining processors have no hardware counters" + code;
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return "this part of a divided GPU (MIG) has no hardware counters" + code + ": count on a whole GPU";
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
      return "GPUs joined by SLI have no hardware counters" + code + ": switch SLI off";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return "hardware counters cannot be read under WSL here" + code +
             ": update the Windows driver and allow them in the NVIDIA control panel, or count under Linux";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another profiler is attached to this process" + code + ": count without it";
    case CUPTI_ERROR_INVALID_CHIP_NAME:
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
      return cupti.library.string() + " has no counters for this GPU" + code +
             ": it needs compute capability 7.5 or newer and a CUDA toolkit that knows the chip";
    default:
      break;
  }
  const char* name = nullptr;
  cupti.cuptiGetResultString(result, &name);
  return std::string(call) + " of " + cupti.library.string() + " failed: " + (name != nullptr ? name : "unknown") +
         code + "; a CUPTI as new as the driver may help (TUNER_CUPTI names another)";
}

/// The process's CUPTI: $TUNER_CUPTI if set, else the result of load_cupti(). Loaded at the first call.
const Cupti& process_cupti() {
  // Never destroyed, like NVRTC's table.
  static const auto& loaded = *new const std::variant<Cupti, std::string>([]() -> std::variant<Cupti, std::string> {
    CuptiSearch search;
    search.asked = environment("TUNER_CUPTI");
    if (const Nvrtc* const found = find_nvrtc()) search.nvrtc = found->library;
    search.newest_major = driver_status().version / 1000;
    try {
      return load_cupti(search);
    } catch (const Error& error) {
      return error.what();
    }
  }());
  if (const auto* const why = std::get_if<std::string>(&loaded)) throw Error(*why);
  return std::get<Cupti>(loaded);
}

/// The result of \p work for the process's CUPTI; Unavailable if it throws Error.
template <typename Work>
auto available(Work work) -> std::variant<decltype(work(std::declval<const Cupti&>())), Unavailable> {
  try {
    return work(process_cupti());
  } catch (const Error& error) {
    return Unavailable{error.what()};
  }
}

}  // namespace

std::vector<fs::path> cupti_candidates(const CuptiSearch& search) {
  std::vector<fs::path> files;
  if (!search.asked.empty()) return asked_libraries(kCuptiNames, search.asked);
  if (search.nvrtc.has_parent_path()) {
    add_libraries(kCuptiNames, search.nvrtc.parent_path(), files);
    add_libraries(kCuptiNames, search.nvrtc.parent_path().parent_path().parent_path() / "cuda_cupti/lib",
                  files);  // Python, CUDA 12
  }
  for (const fs::path& toolkit : toolkit_folders()) {
    for (const char* folder : kLibraryFolders) add_libraries(kCuptiNames, toolkit / folder, files);
    add_libraries(kCuptiNames, toolkit / "extras/CUPTI/lib64", files);
  }
  for (const LibraryName& name : kCuptiNames) files.emplace_back(name.file);
  for (const fs::path& folder : python_package_folders({"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"}))
    add_libraries(kCuptiNames, folder, files);
  put_newer_last(kCuptiNames, search.newest_major, files);
  return files;
}

Cupti load_cupti(const CuptiSearch& search) {
  std::string reasons;
  for (const fs::path& file : cupti_candidates(search)) {
    Cupti cupti;
    const std::string reason = try_cupti(file, cupti);
    if (reason.empty()) return cupti;
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  if (reasons.empty()) reasons = "no libcupti.so.13 or .12 in " + search.asked;
  throw Error(
      "hardware counters need CUPTI, which was not found: install the CUDA toolkit (12.6 or newer), or set TUNER_CUPTI "
      "to libcupti.so or to its folder (tried: " +
      reasons + ")");
}

void check(const Cupti& cupti, CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw Error(why_no_counters(cupti, result, call));
}

std::variant<std::vector<std::string>, Unavailable> known_chips() {
  return available([](const Cupti& cupti) { return known_chips(cupti); });
}
std::variant<std::unique_ptr<ChipMetrics>, Unavailable> chip_metrics(std::string_view chip) {
  return available([&](const Cupti& cupti) { return chip_metrics(cupti, chip); });
}
std::variant<std::string, Unavailable> chip_of_device(int ordinal) {
  return available([&](const Cupti& cupti) { return chip_of_device(cupti, ordinal); });
}
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext context, int ordinal) {
  return available([&](const Cupti& cupti) { return open_counters(cupti, context, ordinal); });
}

}  // namespace tuner::cuda
