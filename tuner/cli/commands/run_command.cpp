#include <tuner/cli/commands/program.hpp>

#include <cmath>
#include <memory>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/input/metric_options.hpp>
#include <tuner/cli/print/session_result.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tuning.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/observe/profiler_range.hpp>
#include <tuner/cli/commands/machine_code.hpp>
#include <tuner/cli/print/metrics.hpp>
#endif

namespace tuner::cli {
namespace {

constexpr std::size_t kLabelWidth = std::string_view("verified").size();

/// How a launch differs from a plain one, for the end of a sentence; empty if it does not.
std::string attributes(const LaunchShape& shape) {
  std::string text;
  if (shape.blocks_per_cluster() != 1)
    text += fmt::format(", in clusters of {}x{}x{}", shape.cluster[0], shape.cluster[1], shape.cluster[2]);
  if (shape.cooperative) text += ", launched cooperatively";
  if (shape.dependent) text += ", which may begin before the launch before them has ended";
  if (shape.carveout != LaunchShape::kNoCarveout)
    text += fmt::format(", {}% preferred for shared memory", shape.carveout);
  return text;
}

class OneRun {
 public:
  explicit OneRun(const Given& given)
      : given_(given),
        spec_(chosen_kernel(given)),
        once_(flag("once")),
        use_(given_use(given)),
        metrics_(read_metrics(given.texts("metrics"), "--metrics")) {
    if (prints_code())
      given.refuse({"json", "once", "cpu", "metrics", "as"}, "with --ptx and --sass");
    else
      given.refuse({"arch"}, "without --ptx or --sass");
    if (given.has("arch")) given.refuse({"device"}, "with --arch, which stands for a device");
    if (once_ && !metrics_.empty())
      throw UsageError("--metrics launches the kernel many times, and --once only once: give one of them");
  }

  int run() {
    if (prints_code()) return print_code();
    device_ = choose_device(wanted_device(given_)).device;
    choose();
    open();
    introduce();
    answer_.show(given_);  // compiling and measuring take a while, and a kernel may end this process
    MeasureOptions options;
    options.use = use_;
    options.verify = !once_;
    options.metrics = measurable();
    options.metrics_for_all = true;
    SingleRun one = prepared(options);
    describe(one.launches());
    answer_.show(given_);
    if (!once_) measure(one);
    if (once_ || trial_.measurement()) launch(one);
    add_results(one, options);
    return answer_.print(given_, failed_ ? kFailed : kDone);
  }

 private:
  bool flag(const char* name) const { return given_.flag(name); }
  bool prints_code() const { return flag("ptx") || flag("sass"); }
  Subject subject() const { return {&spec_, &size_, &device_, Objective::time_of(use_)}; }

  /// The problem, and the configuration that a call would be served with, changed by `--config`.
  void choose() {
    size_ = select_problem(spec_, problem_options(given_), device_, "run");
    const cache::WisdomMatch match = Wisdom(read_only_wisdom(given_)).lookup_in_use(use_, spec_, size_, device_);
    Configuration base = spec_.default_configuration.value_or(Configuration{});
    if (match.best) base = Configuration::parse(match.best->configuration);
    configuration_ = read_configuration(spec_, given_.text("config"), base);
    const bool is_served = configuration_ == base;
    is_best_ = match.tier == cache::Tier::exact && is_served;
    reason_ = (!given_.has("config") ? "as a call would be served: "
               : is_served           ? "as served too: "
                                     : "--config; the rest ") +
              match.reason;
  }

  void open() {
#ifdef TUNER_HAS_CUDA
    if (traits(device_.key).is_gpu && once_) {
      CudaOptions options;
      options.device = device_.index;
      options.line_info = true;
      backend_ = make_cuda_backend(options);
      return;
    }
#endif
    backend_ = open_backend(device_, PreloadedKernels::ceilings);
    if (once_) return;
    require_use(use_, device_);
    backend_->measure_ceilings();
    device_ = backend_->device();
  }

  /// The metrics that can be collected here. Warns about the others.
  std::vector<std::string> measurable() const {
    TuningOptions asked;
    asked.measure.metrics = metrics_;
    return measurable_metrics(asked, device_, warn);
  }

  /// Adds a line. One without a label continues the line before it.
  void line(const char* label, const std::string& text) { answer_.fact(people(label), text); }

  void introduce() {
    line("kernel", fmt::format("{} ({})", spec_.name, spec_.program.file));
    line("device", device_.name);
    line("problem", size_.text());
    line("config", configuration_.text());
    line("", reason_);
  }

  void describe(const std::vector<LaunchDetail>& launches) {
    for (const LaunchDetail& launch : launches) {
      line("launch", launch.expression + text(launch.shape));
      line("",
           fmt::format("{} of {} threads{}{}", plural(launch.shape.blocks(), "block"), launch.shape.threads_per_block(),
                       attributes(launch.shape), launch.timed ? "" : ", not part of the time"));
      if (!launch.occupancy) continue;
      line("",
           fmt::format("{} registers and {} spilled bytes a thread, {} of shared memory a block",
                       launch.resources.registers, launch.resources.spill_bytes, format_bytes(launch.shared_bytes())));
      line("", fmt::format("theoretical occupancy {}: {}{} a multiprocessor, limited by {}",
                           format_percent(launch.resources.occupancy),
                           launch.clusters ? plural(*launch.clusters, "cluster") + " on the device; " : "",
                           plural(launch.occupancy->blocks_per_sm, "block"), name(launch.occupancy->limiter)));
    }
    answer_.data("kernel", spec_.name)
        .data("file", spec_.program.file)
        .data("device", device_)
        .data("problem", size_)
        .data("configuration", configuration_)
        .data("configuration_text", configuration_.text())
        .data("configuration_reason", reason_)
        .data("launches", launches)
        .data("as", named(use_).name)
        .data("once", once_);
  }

  /// Hides what the reference prints, which runs here.
  SingleRun prepared(const MeasureOptions& options) {
    const KernelOutput away(KernelOutput::Keep::nothing);
    return SingleRun(*backend_, spec_, size_, configuration_, options);
  }

  /// Hides what kernels print in timed runs.
  void measure(SingleRun& one) {
    const KernelOutput away(KernelOutput::Keep::nothing);
    trial_ = one.measure();
    if (trial_.measurement()) backend_->synchronize(nullptr);
    const Measurement* const measured = trial_.measurement();
    failed_ = measured == nullptr;
    if (measured && !measured->no_metrics.empty()) warn("metrics are missing: " + measured->no_metrics);
  }

  void launch(SingleRun& one) {
    const KernelOutput output(KernelOutput::Keep::text);
    const auto failure = [&] {
#ifdef TUNER_HAS_CUDA
      const cuda::ProfilerRange range("tune run");
#endif
      return one.launch();
    }();
    if (failure) {
      failed_ = true;
      trial_.configuration = configuration_;
      trial_.outcome = *failure;
    } else {
      backend_->synchronize(nullptr);
      outputs_ = output_values(one.outputs(), one.expected());
    }
    printed_ = output.text();
  }

  static std::string value_text(const OutputValues& values) {
    std::string text = listed(values.first, ", ");
    if (values.count > values.first.size()) text += ", ...";
    text = fmt::format("{}[{}] = {}", values.buffer, values.count, text);
    if (values.error) text += fmt::format("  (largest relative error {:.2g})", *values.error);
    return text;
  }

  static Json json_values(const std::vector<OutputValues>& all) {
    Json list = Json::array();
    for (const OutputValues& values : all) {
      Json first = Json::array();
      for (const std::string& one : values.first) {
        Json number = json_or_discarded(one);
        first.push_back(number.is_discarded() ? Json(one) : number);  // nan, inf
      }
      Json object{{"buffer", values.buffer}, {"count", values.count}, {"first", first}};
      if (values.error && std::isfinite(*values.error)) object["largest_relative_error"] = *values.error;
      list.push_back(std::move(object));
    }
    return list;
  }

  void add_time(const Measurement& measured, const std::vector<LaunchDetail>& launches) {
    line("time", speed_text(subject(), measured.median_ns));
    line("", fmt::format("95% interval {} to {}, {}, noise {}, {}", format_ns(measured.low_ns),
                         format_ns(measured.high_ns), plural(measured.samples_ns.size(), "sample"),
                         format_percent(measured.relative_noise), named(use_).surroundings));
    const char* label = "metrics";
    for (const std::string& metric : metric_list(expand_metrics(metrics_), measured.metrics))
      line(std::exchange(label, ""), metric);
    const Verdict why = explain(spec_, size_, device_, trial_.configuration, measured, launches, is_best_);
    line("limit", limit_text(why));
    for (const std::string& number : why.numbers) line("", number);
    for (const std::string& remark : why.remarks) line("remark", remark);
    const std::string reference = weaker_reference(spec_);
    line("verified", !trial_.verified    ? "no: the kernel has no reference"
                     : reference.empty() ? "yes"
                                         : "against the " + reference);
    if (trial_.verified && !reference.empty()) answer_.data("reference", reference);
    const Json rates = json_rates(subject(), measured.median_ns);
    for (const auto& [key, rate] : rates.items()) answer_.data(key, rate);
    answer_.data("verdict", why);
  }

  /// Runs the reference on the CPU, to compare with \p ours.
  void add_cpu(const MeasureOptions& options, const HostBuffers& ours) {
    const std::unique_ptr<Backend> host = open_backend(choose_device(kHostBackend).device);
    const ReferenceRun reference = [&] {
      const KernelOutput away(KernelOutput::Keep::nothing);
      return run_reference(*host, spec_, size_, options);
    }();
    std::vector<OutputValues> outputs = output_values(reference.outputs, {});
    for (OutputValues& values : outputs)
      if (const auto at = ours.find(values.buffer); at != ours.end() && at->second.count == values.count)
        values.error = largest_error(at->second, reference.outputs.at(values.buffer));
    const std::string device = host->device().name;
    const auto* const there = std::get_if<Measurement>(&reference.outcome);
    const Measurement* const here = once_ ? nullptr : trial_.measurement();
    Json cpu{{"device", device}, {"outputs", json_values(outputs)}};
    line("cpu", there ? fmt::format("the reference takes {} on {}", format_ns(there->median_ns), device)
                      : std::string(message(reference.outcome)));
    for (const OutputValues& values : outputs) line("", value_text(values));
    if (there) cpu["median_ns"] = there->median_ns;
    if (there && here) {
      cpu["speed_up"] = there->median_ns / here->median_ns;
      line("speed-up", fmt::format("{:.3g} over this reference, which may not be the CPU's fastest way",
                                   there->median_ns / here->median_ns));
    }
    answer_.data("cpu", std::move(cpu));
  }

  void add_results(const SingleRun& one, const MeasureOptions& options) {
    if (!once_ || failed_) answer_.data("trial", trial_);
    answer_.data("outputs", json_values(outputs_)).data("printed", printed_);
    if (failed_) {
      answer_.text("{:<{}}  {}: {}\n", "failed", kLabelWidth, kind(trial_.outcome),
                   printable_lines(message(trial_.outcome)));
      return;
    }
    if (const Measurement* const measured = trial_.measurement(); measured && !once_)
      add_time(*measured, one.launches());
    else
      line("time", "not measured, nor verified: --once");
    for (const OutputValues& values : outputs_) line("result", value_text(values));
    if (flag("cpu")) add_cpu(options, one.outputs());
    if (!printed_.empty())
      answer_.text("\nThe kernel printed:\n" + printable_lines(printed_) + (printed_.back() == '\n' ? "" : "\n"));
  }

  /// For the GPU of this machine, or for `--arch` without one.
  int print_code() {
#ifdef TUNER_HAS_CUDA
    std::string architecture = given_.only("arch");
    if (architecture.empty()) {
      device_ = choose_device(wanted_device(given_)).device;
      if (!traits(device_.key).is_gpu)
        throw UsageError("--ptx and --sass are of a GPU: without one, name an architecture (--arch sm_90)");
      architecture = architecture_of(device_.key);
    } else {
      device_ = device_of(architecture);
    }
    choose();
    const CompileRequest request = code_request(spec_, size_, device_.limits, architecture, configuration_);
    if (flag("ptx")) print(ptx(request) + '\n');
    if (flag("sass")) print(sass(request));
    return kDone;
#else
    throw Error("this program was built without the CUDA headers: --ptx and --sass need them");
#endif
  }

  const Given& given_;
  KernelSpec spec_;
  bool once_;
  Use use_;
  std::vector<std::string> metrics_;  ///< as given: sets are not expanded
  Device device_;
  ProblemSize size_;
  Configuration configuration_;
  std::string reason_;    ///< where the configuration comes from
  bool is_best_ = false;  ///< of a tuning for exactly this problem
  std::unique_ptr<Backend> backend_;
  Trial trial_;
  bool failed_ = false;
  std::vector<OutputValues> outputs_;
  std::string printed_;
  Answer answer_{kLabelWidth};
};

}  // namespace

Command run_command() {
  Options options(
      "Usage: tune run KERNEL [options]\n"
      "Compiles, verifies and times one configuration in this process, and shows its\n"
      "launches, resources, time, limit and results. Without --config it is the one\n"
      "that a call would be served with.",
      "  tune run reduce --device host          the configuration of a call\n"
      "  tune run sumMatrix2D --config \"block_x=32 block_y=16\" --cpu\n"
      "  tune run reduce --metrics textbook     counters of this one\n"
      "  tune run sumMatrix2D --arch sm_90 --ptx\n"
      "  ncu --nvtx --nvtx-include \"tune run/\" tune run reduce --once\n");
  options.add("size type choice config device as metrics");
  options.flag("cpu", "time the kernel's reference on the CPU too, and compare the results");
  options.flag("once",
               "for profilers: launch once, unverified and untimed, with source lines and the NVTX range `tune run`");
  options.flag("ptx", "print the compiler's PTX and stop");
  options.flag("sass", "print the machine code, by nvdisasm or cuobjdump, and stop");
  options.add("arch kernel db json").arguments({"kernel"});
  return {options, [](const Given& given) { return OneRun(given).run(); }};
}

}  // namespace tuner::cli
