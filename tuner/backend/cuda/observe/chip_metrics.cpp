#include <tuner/backend/cuda/observe/chip_metrics.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include <tuner/core/device/metric.hpp>
#include <tuner/core/values/message_text.hpp>
#ifdef TUNER_HAS_CUPTI
#include <tuner/backend/cuda/observe/range_profiler.hpp>
#endif

namespace tuner::cuda {
namespace {

/// Index of \p counter in \p counters, to which it is added when it is new.
std::size_t index_of(const std::string& counter, std::vector<std::string>& counters) {
  const auto at = std::find(counters.begin(), counters.end(), counter);
  if (at != counters.end()) return static_cast<std::size_t>(at - counters.begin());
  counters.push_back(counter);
  return counters.size() - 1;
}

/// `dram__bytes_read` of `dram__bytes_read.sum.per_second`.
std::string without_roll_up(const std::string& name) {
  const std::size_t unit = name.find("__");  // a name may have dots before its unit
  return name.substr(0, name.find('.', unit == std::string::npos ? 0 : unit));
}

Unavailable unknown_metric(const ChipMetrics& chip, const std::string& name) {
  const std::string base = without_roll_up(name);
  std::vector<std::string> known;
  for (const NamedMetric& metric : named_metrics()) known.emplace_back(metric.name);
  for (const MetricSet& set : metric_sets()) known.emplace_back(set.name);
  for (ChipMetric& metric : chip.all()) {
    if (metric.name != base) {
      known.push_back(std::move(metric.name));
      continue;
    }
    std::string examples;
    for (const std::string& roll_up : chip.roll_ups(metric.kind)) {
      if (std::count(roll_up.begin(), roll_up.end(), '.') == 1) examples += (examples.empty() ? "" : ", ") + roll_up;
    }
    return {"the " + std::string(metric.kind) + " " + base + " has no " +
            (name == base ? "value by itself" : in_quotes(name.substr(base.size()))) + ": add one of " + examples +
            " to it (tune devices --metrics --all lists more)"};
  }
  const auto near = nearest_name(base, known);
  return {
      "the metric " + in_quotes(name) + " is not known on " + chip.chip() +
      (near ? "; did you mean '" + *near + (near->find("__") != std::string::npos ? name.substr(base.size()) : "") + "'"
            : "") +
      ": tune devices --metrics lists all known ones"};
}

/// The rest of the first line that begins with \p key, without leading blanks; empty if there is none.
std::string_view value_of_line(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.substr(0, key.size()) == key) {
      const std::size_t at = line.find_first_not_of(" \t", key.size());
      return at == std::string_view::npos ? std::string_view() : line.substr(at);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string ChipMetrics::first_of(std::string_view counters) const {
  while (!counters.empty()) {
    std::string counter(counters.substr(0, counters.find(' ')));
    if (has(counter)) return counter;
    counters.remove_prefix(std::min(counters.size(), counter.size() + 1));
  }
  return {};
}

std::variant<MetricPlan, Unavailable> ChipMetrics::plan(std::span<const std::string> metrics) const {
  MetricPlan plan;
  for (const std::string& name : metrics) {
    MetricPlan::Value value{name, {}};
    const NamedMetric* const named = find_metric(name);
    if (named != nullptr && named->terms.empty()) {
      return Unavailable{name + " is not a counter: " +
                         (named->source == MetricSource::sensor ? "the card's energy sensor measures it"
                                                                : "outputs are compared for it")};
    }
    if (named == nullptr) {
      if (!has(name)) return unknown_metric(*this, name);
      value.terms.emplace_back(index_of(name, plan.counters), 1.0);
    } else {
      for (const MetricTerm& term : named->terms) {
        const std::string counter = first_of(term.counters);
        if (counter.empty()) return Unavailable{chip() + " has no counter for " + name};
        value.terms.emplace_back(index_of(counter, plan.counters), term.factor);
      }
    }
    plan.values.push_back(std::move(value));
  }
  return plan;
}

std::string permission_cure() {
  return "run as root, or with the capability CAP_SYS_ADMIN (CAP_PERFMON is enough from driver R565 on), or have an "
         "administrator load the module nvidia with NVreg_RestrictProfilingToAdminUsers=0";
}

bool only_for_administrators(std::string_view driver_parameters) {
  return value_of_line(driver_parameters, "RmProfilingAdminOnly:") == "1";
}

bool is_administrator(std::string_view status) {
  const std::string_view text = value_of_line(status, "CapEff:");
  std::uint64_t capabilities = 0;
  std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
  constexpr int sys_admin = 21, perfmon = 38;  // linux/capability.h
  return (capabilities >> sys_admin & 1) != 0 || (capabilities >> perfmon & 1) != 0;
}

std::string why_not_permitted() {
  if (!only_for_administrators(text_of_file("/proc/driver/nvidia/params"))) return {};
  if (is_administrator(text_of_file("/proc/self/status"))) return {};
  return "the driver lets only administrators read hardware counters (RmProfilingAdminOnly is 1): " + permission_cure();
}

#ifdef TUNER_HAS_CUPTI

namespace {

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

#else

namespace {

const Unavailable kNoHeaders{
    "this tuner was built without CUPTI: build it with the headers of CUDA 12.6 or newer (cupti_range_profiler.h) "
    "beside cuda.h"};

}  // namespace

std::variant<std::vector<std::string>, Unavailable> known_chips() { return kNoHeaders; }
std::variant<std::unique_ptr<ChipMetrics>, Unavailable> chip_metrics(std::string_view) { return kNoHeaders; }
std::variant<std::string, Unavailable> chip_of_device(int) { return kNoHeaders; }
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext, int) { return kNoHeaders; }

#endif

}  // namespace tuner::cuda
