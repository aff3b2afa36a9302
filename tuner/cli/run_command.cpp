#include <tuner/cli/commands.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/metric_options.hpp>
#include <tuner/cli/output_capture.hpp>
#include <tuner/cli/report.hpp>
#include <tuner/cli/tune_request.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/single_run.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/tuning.hpp>
#include <tuner/session/wisdom.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/profiler_range.hpp>
#include <tuner/cli/machine_code.hpp>
#endif

namespace tuner::cli {
namespace {

constexpr const char* kExamples =
    "  tune run reduce --device host          the configuration of a call\n"
    "  tune run sumMatrix2D --config \"block_x=32 block_y=16\" --cpu\n"
    "  tune run reduce --metrics textbook     counters of this one\n"
    "  tune run sumMatrix2D --arch sm_90 --ptx\n"
    "  ncu --nvtx --nvtx-include \"tune run/\" tune run reduce --once\n";

/// Lines of a label and a text. A line that continues the one before it has no label.
using Lines = std::vector<std::pair<std::string_view, std::string>>;
std::string page(const Lines& lines) {
  std::string text;
  for (const auto& [label, line] : lines) text += fmt::format("{:<10}{}\n", label, line);
  return text;
}

/// The reference on the CPU, to compare with the configuration.
struct OnCpu {
  Device device;
  ReferenceRun reference;
  std::vector<OutputValues> outputs;  ///< the reference's values, with the configuration's error against them
};

/// Prints warnings to stderr at once.
class Warnings final : public Observer {
 public:
  void on_warning(std::string_view message) override { warn(message); }
};

class OneRun {
 public:
  explicit OneRun(const Given& given)
      : given_(given),
        spec_(chosen_kernel(given)),
        json_(flag("json")),
        once_(flag("once")),
        metrics_(read_metrics(given.texts("metrics"), "--metrics")) {
    if (flag("ptx") || flag("sass"))
      given.refuse({"json", "once", "cpu", "metrics"}, "with --ptx and --sass");
    else
      given.refuse({"arch"}, "without --ptx or --sass");
    if (given.has("arch")) given.refuse({"device"}, "with --arch, which stands for a device");
    if (once_ && !metrics_.empty())
      throw UsageError("--metrics launches the kernel many times, and --once only once: give one of them");
  }

  int run() {
    if (flag("ptx") || flag("sass")) return print_code();
    device_ = choose_device(wanted_device(given_)).device;
    choose_problem();
    choose_configuration();
    open();
    if (!json_) introduce();
    MeasureOptions options;
    options.cold = !flag("hot");
    options.verify = !once_;
    options.metrics = measurable();
    options.metrics_for_all = true;
    SingleRun one(*backend_, spec_, size_, configuration_, options);
    if (!json_) print(launches_text(one.launches()));
    if (!once_) measure(one);
    if (once_ || trial_.measurement()) launch(one);
    if (flag("cpu") && !failed_) run_on_cpu(options, one.outputs());
    if (json_) {
      print_json(document(one));
    } else {
      print(results_text(one));
    }
    return failed_ ? kFailed : kDone;
  }

 private:
  bool flag(const char* name) const { return given_.flag(name); }
  Subject subject() const { return {&spec_, &size_, &device_, {flag("hot") ? "time_hot" : "time"}}; }

  void choose_problem() { size_ = select_problem(spec_, problem_options(given_), device_, "run"); }

  /// The configuration that a call would be served with, changed by `--config`.
  void choose_configuration() {
    const cache::WisdomMatch match =
        Wisdom(read_only_wisdom(given_)).lookup(spec_, size_, device_, subject().objective);
    base_reason_ = match.reason;
    Configuration base = spec_.default_configuration.value_or(Configuration{});
    if (match.best) base = Configuration::parse(match.best->configuration);
    configuration_ = read_configuration(spec_, given_.text("config"), base);
    if (!given_.has("config"))
      base_ = "as a call would be served: ";
    else
      base_ = configuration_ == base ? "as served too: " : "--config; the rest ";
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
    backend_ = open_backend(device_, OwnKernels::of_ceilings);
    if (once_) return;
    backend_->measure_ceilings();
    device_ = backend_->device();
  }

  /// The metrics that can be collected here. Warns about the others.
  std::vector<std::string> measurable() const {
    TuningOptions asked;
    asked.measure.metrics = metrics_;
    Warnings warnings;
    return measurable_metrics(asked, device_, &warnings);
  }

  void introduce() const {
    print(page({{"kernel", fmt::format("{} ({})", spec_.name, spec_.file)},
                {"device", printable(device_.name)},
                {"problem", size_.text()},
                {"config", configuration_.text()},
                {"", base_ + base_reason_}}));
  }

  static std::string launches_text(const std::vector<LaunchDetail>& launches) {
    Lines about;
    for (const LaunchDetail& launch : launches) {
      about.emplace_back("launch", launch.expression + text(launch.shape));
      about.emplace_back(
          "", fmt::format("{} of {} threads{}{}", plural(launch.shape.blocks(), "block"),
                          launch.shape.threads_per_block(), launch.shape.cooperative ? ", launched cooperatively" : "",
                          launch.timed ? "" : ", not part of the time"));
      if (!launch.occupancy) continue;
      about.emplace_back("", fmt::format("{} registers and {} spilled bytes a thread, {} of shared memory a block",
                                         launch.resources.registers, launch.resources.spill_bytes,
                                         format_bytes(launch.shared_bytes())));
      about.emplace_back(
          "", fmt::format("theoretical occupancy {}: {} a multiprocessor, limited by {}",
                          format_percent(launch.occupancy->fraction), plural(launch.occupancy->blocks_per_sm, "block"),
                          name(launch.occupancy->limiter)));
    }
    return page(about);
  }

  /// Hides what kernels print in timed runs.
  void measure(SingleRun& one) {
    const OutputCapture away(OutputCapture::Keep::nothing);
    trial_ = one.measure();
    if (trial_.measurement()) backend_->synchronize(nullptr);
    const Measurement* const measured = trial_.measurement();
    failed_ = measured == nullptr;
    if (measured && !measured->no_metrics.empty()) warn("metrics are missing: " + measured->no_metrics);
  }

  /// A line for each metric that was asked for and collected.
  Lines metric_lines(const Measurement& measured) const {
    Lines lines;
    for (std::string& line : metric_list(expand_metrics(metrics_), measured.metrics))
      lines.emplace_back(lines.empty() ? "metrics" : "", std::move(line));
    return lines;
  }

  void launch(SingleRun& one) {
    const OutputCapture capture(OutputCapture::Keep::text);
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
    printed_ = capture.text();
  }

  void run_on_cpu(const MeasureOptions& options, const HostBuffers& ours) {
    const std::unique_ptr<Backend> host = open_backend(choose_device(kHostBackend).device);
    OnCpu cpu;
    cpu.device = host->device();
    {
      const OutputCapture away(OutputCapture::Keep::nothing);
      cpu.reference = run_reference(*host, spec_, size_, options);
    }
    cpu.outputs = output_values(cpu.reference.outputs, {});
    for (OutputValues& values : cpu.outputs)
      if (const auto at = ours.find(values.buffer); at != ours.end() && at->second.count == values.count)
        values.error = largest_error(at->second, cpu.reference.outputs.at(values.buffer));
    cpu_ = std::move(cpu);
  }

  static std::string value_text(const OutputValues& values) {
    std::string text;
    for (std::size_t i = 0; i < values.first.size(); ++i) text += (i ? ", " : "") + values.first[i];
    if (values.count > values.first.size()) text += ", ...";
    text = fmt::format("{}[{}] = {}", values.buffer, values.count, text);
    if (values.error) text += fmt::format("  (largest relative error {:.2g})", *values.error);
    return text;
  }

  std::string results_text(const SingleRun& one) const {
    Lines about;
    const Measurement* const measured = trial_.measurement();
    if (failed_) {
      about.emplace_back("failed",
                         fmt::format("{}: {}", kind(trial_.outcome), printable_lines(message(trial_.outcome))));
      return page(about);
    }
    if (!once_ && measured) {
      about.emplace_back("time", speed_text(subject(), measured->median_ns));
      about.emplace_back("", fmt::format("95% interval {} to {}, {}, noise {}, {} L2", format_ns(measured->low_ns),
                                         format_ns(measured->high_ns),
                                         plural(static_cast<std::int64_t>(measured->samples_ns.size()), "sample"),
                                         format_percent(measured->relative_noise), measured->cold ? "cold" : "hot"));
      for (auto& line : metric_lines(*measured)) about.push_back(std::move(line));
      const Verdict why = explain(spec_, size_, device_, *measured, one.launches());
      about.emplace_back("limit", limit_text(why));
      for (const std::string& number : why.numbers) about.emplace_back("", number);
      for (const std::string& remark : why.remarks) about.emplace_back("remark", remark);
      about.emplace_back("verified", verified_text());
    } else {
      about.emplace_back("time", "not measured, nor verified: --once");
    }
    for (const OutputValues& values : outputs_) about.emplace_back("result", value_text(values));
    if (cpu_) {
      const auto* const there = std::get_if<Measurement>(&cpu_->reference.outcome);
      about.emplace_back("cpu", there ? fmt::format("the reference takes {} on {}", format_ns(there->median_ns),
                                                    printable(cpu_->device.name))
                                      : std::string(message(cpu_->reference.outcome)));
      for (const OutputValues& values : cpu_->outputs) about.emplace_back("", value_text(values));
      if (there && measured)
        about.emplace_back("speed-up", fmt::format("{:.3g}", there->median_ns / measured->median_ns));
    }
    std::string text = page(about);
    if (!printed_.empty())
      text += "\nThe kernel printed:\n" + printable_lines(printed_) + (printed_.back() == '\n' ? "" : "\n");
    return text;
  }

  std::string verified_text() const {
    if (!trial_.verified) return "no: the kernel has no reference";
    const std::string reference = weaker_reference(spec_);
    return reference.empty() ? "yes" : "against the " + reference;
  }

  static Json json_values(const std::vector<OutputValues>& all) {
    Json list = Json::array();
    for (const OutputValues& values : all) {
      Json first = Json::array();
      for (const std::string& one : values.first) {
        Json number = Json::parse(one, nullptr, false);
        first.push_back(number.is_discarded() ? Json(one) : number);  // nan, inf
      }
      Json object{{"buffer", values.buffer}, {"count", values.count}, {"first", first}};
      if (values.error && std::isfinite(*values.error)) object["largest_relative_error"] = *values.error;
      list.push_back(std::move(object));
    }
    return list;
  }

  Json document(const SingleRun& one) const {
    Json launches = Json::array();
    for (const LaunchDetail& launch : one.launches()) launches.push_back(to_json(launch));
    Json object{{"kernel", spec_.name},
                {"file", spec_.file},
                {"device", to_json(device_)},
                {"problem", to_json(size_)},
                {"configuration", to_json(configuration_)},
                {"configuration_text", configuration_.text()},
                {"configuration_reason", base_ + base_reason_},
                {"launches", launches},
                {"once", once_}};
    if (!once_ || failed_) object["trial"] = to_json(trial_);
    if (trial_.verified) add_reference(object, weaker_reference(spec_));
    if (const Measurement* const measured = trial_.measurement(); measured && !once_) {
      object.update(json_rates(subject(), measured->median_ns));
      object["verdict"] = to_json(explain(spec_, size_, device_, *measured, one.launches()));
    }
    object["outputs"] = json_values(outputs_);
    object["printed"] = printed_;
    if (cpu_) {
      Json cpu{{"device", cpu_->device.name}, {"outputs", json_values(cpu_->outputs)}};
      if (const auto* const there = std::get_if<Measurement>(&cpu_->reference.outcome)) {
        cpu["median_ns"] = there->median_ns;
        if (const Measurement* const measured = trial_.measurement(); measured && !once_)
          cpu["speed_up"] = there->median_ns / measured->median_ns;
      }
      object["cpu"] = std::move(cpu);
    }
    return object;
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
      device_.key.backend = kCudaBackend;
      device_.limits = cuda::limits_of_architecture(architecture);
      device_.key.compute_capability = device_.limits.compute_capability;
    }
    choose_problem();
    choose_configuration();
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
  bool json_, once_;
  std::vector<std::string> metrics_;  ///< as asked for, sets kept
  Device device_;
  ProblemSize size_;
  Configuration configuration_;
  std::string base_, base_reason_;
  std::unique_ptr<Backend> backend_;
  Trial trial_;
  bool failed_ = false;
  std::vector<OutputValues> outputs_;
  std::string printed_;
  std::optional<OnCpu> cpu_;
};

int run_one(const Given& given) { return OneRun(given).run(); }

}  // namespace

Command run_command() {
  Options options(
      "Usage: tune run KERNEL [options]\n"
      "Compiles, verifies and times one configuration in this process, and shows its\n"
      "launches, resources, time, limit and results. Without --config it is the one\n"
      "that a call would be served with.",
      kExamples);
  options.add("size type choice config device hot metrics");
  options.flag("cpu", "time the kernel's reference on the CPU too, and compare the results");
  options.flag("once",
               "for profilers: launch once, unverified and untimed, with source lines and the NVTX range `tune run`");
  options.flag("ptx", "print the compiler's PTX and stop");
  options.flag("sass", "print the machine code, by nvdisasm or cuobjdump, and stop");
  options.add("arch kernel db json").arguments({"kernel"});
  return {options, run_one};
}

}  // namespace tuner::cli
