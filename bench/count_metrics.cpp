// Prints tuner's counters and energy for some configurations. A profiler can count the same launches: `--once` runs
// each once, so that `ncu` counts what `count_metrics` counts.
//
//   count_metrics [--once] [--metrics textbook] [--energy SECONDS] [--repeat N] CASE...
//
// A case is `KERNEL|SIZES|CONFIGURATION`: `sumMatrix2D|nx=4096 ny=4096|block_x=32
// block_y=8`; all else has its default. Prints a line `case launch metric value` for each metric of each launch, and
// for all launches together (launch `all`). Then prints how long counting took, and a launch's time before and after
// it.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/options.hpp>

#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/problem_buffers.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>

namespace {

using namespace tuner;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

struct Options {
  bool once = false;
  std::string metrics = "textbook";
  double energy_s = 0;
  std::uint64_t repeat = 1;
  std::vector<std::string> cases;
};

/// A configuration that is loaded and ready to run.
class Case {
 public:
  Case(Backend& backend, const std::string& text) : text_(text), backend_(backend) {
    const std::vector<std::string> parts = split(text, '|');
    if (parts.size() != 3) throw std::invalid_argument("a case is KERNEL|SIZES|CONFIGURATION: " + text);
    spec_ = KernelLibrary().find(parts[0]);
    ProblemSize size;
    for (const std::string& one : split(parts[1], ' ')) {
      const auto equals = one.find('=');
      if (equals != std::string::npos) size.sizes[one.substr(0, equals)] = std::stoll(one.substr(equals + 1));
    }
    size = complete(spec_, size);
    Configuration configuration = spec_.default_configuration.value_or(Configuration{});
    const Configuration named = Configuration::parse(parts[2]);
    for (const auto& [name, value] : named.entries()) configuration.set(name, value);
    const DeviceLimits& limits = backend.device().limits;
    if (const auto why = why_invalid(spec_, size, limits, configuration)) throw Error(text + ": " + *why);
    auto compiled =
        backend.compiler().compile(compile_request(spec_, size, limits, backend.architecture(), configuration));
    if (const auto* const error = std::get_if<CompileError>(&compiled)) throw Error(error->message + error->log);
    const Image& image = std::get<Image>(compiled);
    auto loaded = backend.load(image);
    if (const auto* const error = std::get_if<LaunchError>(&loaded)) throw Error(error->message);
    module_ = std::get<std::unique_ptr<Module>>(std::move(loaded));
    buffers_ = std::make_unique<ProblemBuffers>(backend, spec_, VerifyProblem{size}, options_, 1);
    buffers_->size_work_space(configuration);
    for (const ResolvedLaunch& launch : resolve_launches(spec_, size, limits, configuration)) {
      const std::size_t function = find_function(image, launch.expression).value();
      (void)module_->resources(function, launch.shape);
      launches_.push_back(
          {module_.get(), function, launch.shape, buffers_->arguments(*launch.spec, configuration, false)});
    }
    buffers_->reset(0);
  }

  const std::string& text() const { return text_; }
  std::span<const Launch> launches() const { return launches_; }
  void run() {
    if (const auto failure = backend_.run(launches_, 60)) throw Error(text_ + ": " + std::string(message(*failure)));
  }
  CountRequest request(const std::vector<std::string>& metrics) {
    CountRequest one;
    one.metrics = metrics;
    one.restore = [this] { buffers_->reset(0); };
    return one;
  }

 private:
  std::string text_;
  Backend& backend_;
  KernelSpec spec_;
  MeasureOptions options_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<ProblemBuffers> buffers_;
  std::vector<Launch> launches_;
};

double median_ns(Backend& backend, std::span<const Launch> launches, bool cold) {
  SampleRequest request;
  request.samples = 200;
  request.use = cold ? Use::single : Use::hot;
  auto taken = backend.sample(launches, request);
  auto& samples = std::get<std::vector<Sample>>(taken);
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.ns < b.ns; });
  return samples[samples.size() / 2].ns;
}

void print_metrics(const Case& one, const std::string& launch, const CountResult& result) {
  if (const auto* const why = std::get_if<Unavailable>(&result)) throw Error(why->reason);
  for (const auto& [name, value] : std::get<Metrics>(result))
    fmt::print("{}\t{}\t{}\t{:.17g}\n", one.text(), launch, name, value);
}

/// All cases stay loaded, as in count(), because addresses matter.
std::vector<std::unique_ptr<Case>> loaded_cases(Backend& backend, const Options& options) {
  std::vector<std::unique_ptr<Case>> cases;
  for (const std::string& text : options.cases) cases.push_back(std::make_unique<Case>(backend, text));
  return cases;
}

void run_once(Backend& backend, const Options& options) {
  const auto cases = loaded_cases(backend, options);
  for (std::uint64_t round = 0; round < options.repeat; ++round)
    for (const auto& one : cases) one->run();
}

void count(Backend& backend, const Options& options) {
  const std::vector<std::string> names = split(options.metrics, ',');
  const std::vector<std::string> metrics = expand_metrics(names);
  const auto cases = loaded_cases(backend, options);
  for (const auto& one : cases) one->run();
  const auto time_all = [&](const char* when) {
    for (const auto& one : cases)
      fmt::print("# {}: {} cold {:.0f} ns, hot {:.0f} ns\n", when, one->text(),
                 median_ns(backend, one->launches(), true), median_ns(backend, one->launches(), false));
  };
  time_all("before counting");
  for (std::uint64_t round = 0; round < options.repeat; ++round) {
    const auto begin = Clock::now();
    for (const auto& one : cases) {
      const auto start = Clock::now();
      print_metrics(*one, "all", backend.collect(one->launches(), one->request(metrics)));
      fmt::print("# counted in {:.1f} ms\n", 1e3 * seconds_since(start));
    }
    fmt::print("# round {}: {} configurations in {:.3f} s\n", round + 1, cases.size(), seconds_since(begin));
  }
  for (const auto& one : cases) {
    if (one->launches().size() == 1) continue;
    for (std::uint64_t round = 0; round < options.repeat; ++round)
      for (std::size_t i = 0; i < one->launches().size(); ++i)
        print_metrics(*one, std::to_string(i + 1),
                      backend.collect(one->launches().subspan(i, 1), one->request(metrics)));
  }
  time_all("after counting");
}

void measure_energy(Backend& backend, const Options& options) {
  for (const std::string& text : options.cases) {
    Case one(backend, text);
    one.run();
    double least = 0, most = 0, sum = 0;
    for (std::uint64_t round = 0; round < options.repeat; ++round) {
      const EnergyResult result = backend.energy(one.launches(), options.energy_s);
      if (const auto* const why = std::get_if<Unavailable>(&result)) throw Error(why->reason);
      const Energy& energy = std::get<Energy>(result);
      fmt::print("{}\tenergy {:.6g} J [{:.6g}, {:.6g}], {:.1f} W, {:.2f} us a run, {} runs, window {:.3f} s\n", text,
                 energy.joules, energy.low_joules, energy.high_joules, energy.watts, 1e6 * energy.run_s, energy.runs,
                 energy.window_s);
      least = round == 0 ? energy.joules : std::min(least, energy.joules);
      most = std::max(most, energy.joules);
      sum += energy.joules;
    }
    const double mean = sum / static_cast<double>(options.repeat);
    fmt::print("# {}: spread {:.2f}% of {:.6g} J\n", text, 100 * (most - least) / mean, mean);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    const auto first_case = std::find_if(
        argv + 1, argv + argc, [](const char* text) { return std::string(text).find('|') != std::string::npos; });
    options.cases.assign(first_case, argv + argc);
    bench::parse(static_cast<int>(first_case - argv), argv,
                 {{"--metrics", bench::into(options.metrics)},
                  {"--repeat", bench::into(options.repeat, 1)},
                  {"--energy", [&](const std::string& text) { options.energy_s = std::stod(text); }}},
                 {{"--once", &options.once}});
    const auto backend = open_backend(choose_device("cuda").device);
    if (options.once)
      run_once(*backend, options);
    else if (options.energy_s > 0)
      measure_energy(*backend, options);
    else
      count(*backend, options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "count_metrics: {}\n", error.what());
    return 1;
  }
}
