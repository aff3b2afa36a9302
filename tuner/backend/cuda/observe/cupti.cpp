#include <tuner/backend/cuda/observe/cupti.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <variant>

#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/backend/cuda/observe/range_profiler.hpp>
#include <tuner/core/values/message_text.hpp>

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
  if (table.cuptiGetVersion(&table.version) != CUPTI_SUCCESS) return file.string() + ": its version cannot be read";
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

}  // namespace

std::vector<fs::path> cupti_candidates(const CuptiSearch& search) {
  std::vector<fs::path> files;
  if (!search.requested.empty()) return requested_libraries(kCuptiNames, search.requested);
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
  if (reasons.empty()) reasons = "no libcupti.so.13 or .12 in " + search.requested;
  throw Error(
      "hardware counters need CUPTI, which was not found: install the CUDA toolkit (12.6 or newer), or set TUNER_CUPTI "
      "to libcupti.so or to its folder (tried: " +
      reasons + ")");
}

const Cupti& process_cupti() {
  // Never destroyed, like NVRTC's table.
  static const auto& loaded = *new const std::variant<Cupti, std::string>([]() -> std::variant<Cupti, std::string> {
    CuptiSearch search;
    search.requested = environment("TUNER_CUPTI");
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

void check(const Cupti& cupti, CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw Error(why_no_counters(cupti, result, call));
}

// ---------------------------------------------------------------- the metrics of a chip

namespace {

struct Kind {
  std::string_view name;
  CUpti_MetricType type;
};
constexpr std::array<Kind, 3> kKinds{{{"counter", CUPTI_METRIC_TYPE_COUNTER},
                                      {"ratio", CUPTI_METRIC_TYPE_RATIO},
                                      {"throughput", CUPTI_METRIC_TYPE_THROUGHPUT}}};

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> found;
  for (const std::string& text : texts) found.push_back(text.c_str());
  return found;
}

/// CUPTI's own description of a chip.
class HostObject {
 public:
  /// \p availability may be empty.
  HostObject(const Cupti& cupti, const std::string& chip, const std::vector<std::uint8_t>& availability)
      : cupti_(cupti) {
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize_Params);
    parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    parameters.pChipName = chip.c_str();
    parameters.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    check(cupti, cupti.cuptiProfilerHostInitialize(&parameters), "cuptiProfilerHostInitialize");
    object_ = parameters.pHostObject;
  }
  ~HostObject() {
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params);
    parameters.pHostObject = object_;
    cupti_.cuptiProfilerHostDeinitialize(&parameters);
  }
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  CUpti_Profiler_Host_Object* get() const { return object_; }

 private:
  const Cupti& cupti_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

class CuptiChipMetrics final : public ChipMetrics {
 public:
  CuptiChipMetrics(const Cupti& cupti, std::string chip, std::vector<std::uint8_t> availability)
      : cupti_(cupti),
        chip_(std::move(chip)),
        source_(cupti.library.string()),
        availability_(std::move(availability)),
        host_(cupti, chip_, availability_) {}

  const std::string& chip() const override { return chip_; }
  const std::string& source() const override { return source_; }

  std::vector<ChipMetric> all() const override {
    std::vector<ChipMetric> found;
    for (const Kind& kind : kKinds) {
      auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetBaseMetrics_Params);
      parameters.pHostObject = host_.get();
      parameters.metricType = kind.type;
      check(cupti_, cupti_.cuptiProfilerHostGetBaseMetrics(&parameters), "cuptiProfilerHostGetBaseMetrics");
      for (std::size_t i = 0; i < parameters.numMetrics; ++i) {
        ChipMetric& metric = found.emplace_back();
        metric.name = text_or_empty(parameters.ppMetricNames[i]);
        metric.kind = kind.name;
      }
    }
    for (ChipMetric& metric : found) {
      auto parameters = properties(metric.name);
      if (cupti_.cuptiProfilerHostGetMetricProperties(&parameters) != CUPTI_SUCCESS) continue;
      metric.unit = text_or_empty(parameters.pDimUnit);
      metric.meaning = text_or_empty(parameters.pDescription);
    }
    // Metrics that need a special configuration of the profiler come last.
    const auto special = [](const ChipMetric& metric) { return metric.name.find('.') != std::string::npos; };
    std::sort(found.begin(), found.end(), [&](const ChipMetric& a, const ChipMetric& b) {
      return special(a) != special(b) ? special(b) : a.name < b.name;
    });
    return found;
  }

  std::vector<std::string> roll_ups(std::string_view kind) const override {
    for (const Kind& one : kKinds) {
      if (one.name != kind) continue;
      auto base = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetBaseMetrics_Params);
      base.pHostObject = host_.get();
      base.metricType = one.type;
      check(cupti_, cupti_.cuptiProfilerHostGetBaseMetrics(&base), "cuptiProfilerHostGetBaseMetrics");
      if (base.numMetrics == 0) return {};
      auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetSubMetrics_Params);
      parameters.pHostObject = host_.get();
      parameters.metricType = one.type;
      parameters.pMetricName = base.ppMetricNames[0];
      check(cupti_, cupti_.cuptiProfilerHostGetSubMetrics(&parameters), "cuptiProfilerHostGetSubMetrics");
      return {parameters.ppSubMetrics, parameters.ppSubMetrics + parameters.numOfSubmetrics};
    }
    return {};
  }

  bool has(const std::string& counter) const override {
    // A name without a roll-up has properties too, but cannot be counted.
    const std::size_t unit = counter.find("__");
    if (unit == std::string::npos || counter.find('.', unit) == std::string::npos) return false;
    auto parameters = properties(counter);
    return cupti_.cuptiProfilerHostGetMetricProperties(&parameters) == CUPTI_SUCCESS;
  }

  std::size_t passes(const MetricPlan& plan) const override {
    if (plan.counters.empty()) return 0;
    std::vector<std::uint8_t> image = config_image(plan);
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params);
    parameters.configImageSize = image.size();
    parameters.pConfigImage = image.data();
    check(cupti_, cupti_.cuptiProfilerHostGetNumOfPasses(&parameters), "cuptiProfilerHostGetNumOfPasses");
    return parameters.numOfPasses;
  }

  std::vector<std::uint8_t> config_image(const MetricPlan& plan) const override {
    const HostObject host(cupti_, chip_, availability_);  // a new one, because an object collects all added metrics
    std::vector<const char*> names = pointers(plan.counters);
    auto add = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = host.get();
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    check(cupti_, cupti_.cuptiProfilerHostConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics");
    auto size = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host.get();
    check(cupti_, cupti_.cuptiProfilerHostGetConfigImageSize(&size), "cuptiProfilerHostGetConfigImageSize");
    std::vector<std::uint8_t> image(size.configImageSize);
    auto get = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params);
    get.pHostObject = host.get();
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    check(cupti_, cupti_.cuptiProfilerHostGetConfigImage(&get), "cuptiProfilerHostGetConfigImage");
    return image;
  }

  Metrics evaluate(const MetricPlan& plan, std::span<const std::uint8_t> counter_data) const override {
    std::vector<const char*> names = pointers(plan.counters);
    std::vector<double> counted(names.size());
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    parameters.pHostObject = host_.get();
    parameters.pCounterDataImage = counter_data.data();
    parameters.counterDataImageSize = counter_data.size();
    parameters.rangeIndex = 0;
    parameters.ppMetricNames = names.data();
    parameters.numMetrics = names.size();
    parameters.pMetricValues = counted.data();
    check(cupti_, cupti_.cuptiProfilerHostEvaluateToGpuValues(&parameters), "cuptiProfilerHostEvaluateToGpuValues");
    Metrics values;
    for (const MetricPlan::Value& value : plan.values) {
      double sum = 0;
      for (const auto& [index, factor] : value.terms) sum += factor * counted[index];
      values[value.name] = sum;
    }
    return values;
  }

 private:
  CUpti_Profiler_Host_GetMetricProperties_Params properties(const std::string& name) const {
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetMetricProperties_Params);
    parameters.pHostObject = host_.get();
    parameters.pMetricName = name.c_str();
    return parameters;
  }
  const Cupti& cupti_;
  std::string chip_, source_;
  std::vector<std::uint8_t> availability_;
  HostObject host_;
};

}  // namespace

std::vector<std::string> known_chips(const Cupti& cupti) {
  auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetSupportedChips_Params);
  check(cupti, cupti.cuptiProfilerHostGetSupportedChips(&parameters), "cuptiProfilerHostGetSupportedChips");
  return {parameters.ppChipNames, parameters.ppChipNames + parameters.numChips};
}

std::unique_ptr<ChipMetrics> chip_metrics(const Cupti& cupti, std::string_view chip,
                                          std::vector<std::uint8_t> availability) {
  const std::vector<std::string> known = known_chips(cupti);
  std::string name(chip);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  // The availability of its counters is enough to describe a chip that CUPTI does not know by name.
  if (availability.empty() && std::find(known.begin(), known.end(), name) == known.end())
    throw Error(unknown_name("chip", name, known));
  return std::make_unique<CuptiChipMetrics>(cupti, std::move(name), std::move(availability));
}

std::string chip_of_device(const Cupti& cupti, int ordinal) {
  auto initialise = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params);
  check(cupti, cupti.cuptiProfilerInitialize(&initialise), "cuptiProfilerInitialize");
  auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params);
  parameters.deviceIndex = static_cast<std::size_t>(ordinal);
  check(cupti, cupti.cuptiDeviceGetChipName(&parameters), "cuptiDeviceGetChipName");
  return text_or_empty(parameters.pChipName);
}

}  // namespace tuner::cuda
