#include <tuner/backend/cuda/observe/range_profiler.hpp>

namespace tuner::cuda {
namespace {

/// Profiling of a context for one plan; on as long as this object lives. A range is either a single launch, from its
/// first to its last instruction, or all launches between push() and pop(); this cannot change later. CUPTI reads the
/// images, which are members, until the end.
class RangeProfiler {
 public:
  RangeProfiler(const Cupti& cupti, CUcontext context, std::vector<std::uint8_t> config, bool single_launches)
      : cupti_(cupti), single_launches_(single_launches), config_(std::move(config)) {
    auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params);
    parameters.ctx = context;
    check(cupti_, cupti.cuptiRangeProfilerEnable(&parameters), "cuptiRangeProfilerEnable");
    object_ = parameters.pRangeProfilerObject;
  }
  ~RangeProfiler() {
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params));
    cupti_.cuptiRangeProfilerDisable(&parameters);
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  bool single_launches() const { return single_launches_; }

  /// Allocates the data of one range and configures the profiler. \p counters: those of the plan.
  void prepare(std::vector<const char*> counters) {
    auto size = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params));
    size.pMetricNames = counters.data();
    size.numMetrics = counters.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    check(cupti_, cupti_.cuptiRangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize");
    data_.resize(size.counterDataSize);
    auto initialise = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params));
    initialise.counterDataSize = data_.size();
    initialise.pCounterData = data_.data();
    check(cupti_, cupti_.cuptiRangeProfilerCounterDataImageInitialize(&initialise),
          "cuptiRangeProfilerCounterDataImageInitialize");
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params));
    parameters.configSize = config_.size();
    parameters.pConfig = config_.data();
    parameters.counterDataImageSize = data_.size();
    parameters.pCounterDataImage = data_.data();
    parameters.range = single_launches_ ? CUPTI_AutoRange : CUPTI_UserRange;
    parameters.replayMode = CUPTI_UserReplay;  // so that inputs and caches can be prepared before each pass
    parameters.maxRangesPerPass = 1;
    parameters.numNestingLevels = 1;
    parameters.minNestingLevel = 1;
    parameters.passIndex = 0;
    parameters.targetNestingLevel = 1;
    check(cupti_, cupti_.cuptiRangeProfilerSetConfig(&parameters), "cuptiRangeProfilerSetConfig");
  }
  std::span<const std::uint8_t> counter_data() const { return data_; }

  void start() {
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params));
    check(cupti_, cupti_.cuptiRangeProfilerStart(&parameters), "cuptiRangeProfilerStart");
  }
  void push() {
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_PushRange_Params));
    parameters.pRangeName = "run";
    check(cupti_, cupti_.cuptiRangeProfilerPushRange(&parameters), "cuptiRangeProfilerPushRange");
  }
  void pop() {
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_PopRange_Params));
    check(cupti_, cupti_.cuptiRangeProfilerPopRange(&parameters), "cuptiRangeProfilerPopRange");
  }
  /// Ends a pass. Returns whether it was the last one.
  bool stop() {
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params));
    check(cupti_, cupti_.cuptiRangeProfilerStop(&parameters), "cuptiRangeProfilerStop");
    return parameters.isAllPassSubmitted != 0;
  }
  void decode() {
    auto parameters = with_object(TUNER_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params));
    check(cupti_, cupti_.cuptiRangeProfilerDecodeData(&parameters), "cuptiRangeProfilerDecodeData");
    if (parameters.numOfRangeDropped > 0) throw Error("counters were lost: more was counted than one run");
  }

 private:
  template <typename Parameters>
  Parameters with_object(Parameters parameters) const {
    parameters.pRangeProfilerObject = object_;
    return parameters;
  }

  const Cupti& cupti_;
  const bool single_launches_;
  const std::vector<std::uint8_t> config_;
  std::vector<std::uint8_t> data_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

class CuptiCounters final : public Counters {
 public:
  CuptiCounters(const Cupti& cupti, CUcontext context, std::unique_ptr<ChipMetrics> chip)
      : cupti_(cupti), context_(context), chip_(std::move(chip)) {}

  CountResult collect(std::span<const std::string> metrics, const CountedWork& work) override {
    if (metrics.empty()) return Metrics{};
    try {
      if (std::optional<Unavailable> why = prepare(metrics)) return *why;
      CountResult result = count(work);
      if (std::holds_alternative<Unavailable>(result)) rest();  // a pass may not have ended
      return result;
    } catch (const Error& error) {
      rest();
      return Unavailable{error.what()};
    }
  }
  void rest() override { profiler_.reset(); }
  void leak() noexcept override { (void)profiler_.release(); }

 private:
  /// Keeps the plan for the last names, because planning takes longer than counting.
  std::optional<Unavailable> prepare(std::span<const std::string> metrics) {
    if (std::equal(metrics.begin(), metrics.end(), planned_.begin(), planned_.end())) return std::nullopt;
    planned_.clear();
    rest();
    auto plan = chip_->plan(metrics);
    if (auto* const why = std::get_if<Unavailable>(&plan)) return std::move(*why);
    plan_ = std::get<MetricPlan>(std::move(plan));
    config_ = chip_->config_image(plan_);
    planned_.assign(metrics.begin(), metrics.end());
    return std::nullopt;
  }

  CountResult count(const CountedWork& work) {
    std::vector<const char*> names;
    for (const std::string& counter : plan_.counters) names.push_back(counter.c_str());
    const bool one_launch = work.launches == 1;
    if (profiler_ == nullptr || profiler_->single_launches() != one_launch) {
      rest();  // only one can be on at a time
      profiler_ = std::make_unique<RangeProfiler>(cupti_, context_, config_, one_launch);
    }
    RangeProfiler& profiler = *profiler_;
    profiler.prepare(std::move(names));
    constexpr int most_passes = 1000;  // prevents an endless loop
    int passes = 0;
    for (bool last = false; !last;) {
      if (++passes > most_passes) return Unavailable{"these metrics take more than 1000 passes: select fewer"};
      work.before();
      profiler.start();
      if (!one_launch) profiler.push();
      const std::optional<Unavailable> failure = work.run();
      if (failure) return *failure;
      if (!one_launch) profiler.pop();
      last = profiler.stop();
    }
    profiler.decode();
    return chip_->evaluate(plan_, profiler.counter_data());
  }

  const Cupti& cupti_;
  CUcontext context_;
  std::unique_ptr<ChipMetrics> chip_;
  std::vector<std::string> planned_;  // the names of plan_ and config_
  MetricPlan plan_;
  std::vector<std::uint8_t> config_;
  std::unique_ptr<RangeProfiler> profiler_;
};

/// The counters of its chip that a device has, as an image for CUPTI.
std::vector<std::uint8_t> counter_availability(const Cupti& cupti, CUcontext context) {
  auto parameters = TUNER_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params);
  parameters.ctx = context;
  const char* const call = "cuptiProfilerGetCounterAvailability";
  check(cupti, cupti.cuptiProfilerGetCounterAvailability(&parameters), call);  // only the size
  std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
  parameters.pCounterAvailabilityImage = image.data();
  check(cupti, cupti.cuptiProfilerGetCounterAvailability(&parameters), call);
  return image;
}

}  // namespace

std::unique_ptr<Counters> open_counters(const Cupti& cupti, CUcontext context, int ordinal) {
  const std::string chip = chip_of_device(cupti, ordinal);
  return std::make_unique<CuptiCounters>(cupti, context,
                                         chip_metrics(cupti, chip, counter_availability(cupti, context)));
}

}  // namespace tuner::cuda
