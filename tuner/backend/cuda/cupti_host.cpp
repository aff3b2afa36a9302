#include <tuner/backend/cuda/cupti.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include <tuner/core/message_text.hpp>

namespace tuner::cuda {
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

  Metrics evaluate(const MetricPlan& plan, std::span<const std::uint8_t> counter_data,
                   std::size_t range) const override {
    std::vector<const char*> names = pointers(plan.counters);
    std::vector<double> counted(names.size());
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    parameters.pHostObject = host_.get();
    parameters.pCounterDataImage = counter_data.data();
    parameters.counterDataImageSize = counter_data.size();
    parameters.rangeIndex = range;
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
