#include <tuner/cli/export_results.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/serving_check.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/convert/results_files.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

using convert::RecordedTuning;

struct ResultsOption {
  const char* name;
  const char* help;
};

constexpr ResultsOption kResultsOptions[] = {
    {"t4", "every trial of one tuning by the T4 schema"},
    {"kernel-tuner-cache", "the same as a cache file of Kernel Tuner, for its simulation mode"}};

/// One tuning of several, or a message that says how to choose.
const RecordedTuning& only_one(const std::vector<RecordedTuning>& tunings, const ResultsOption& option) {
  if (tunings.size() == 1) return tunings.front();
  std::string list;
  for (std::size_t i = 0; i < tunings.size() && i < 12; ++i) list += "\n  " + convert::title(tunings[i].key);
  throw UsageError(
      fmt::format("--{} is of one tuning, and {} match; choose with --kernel, --device-key, --size and "
                  "--choice:{}{}",
                  option.name, tunings.size(), list, tunings.size() > 12 ? "\n  …" : ""));
}

convert::TuningFilter read_tuning_filter(const po::variables_map& given) {
  convert::TuningFilter filter{text_of(given, "kernel"), text_of(given, "device-key"), {}, {}, {}};
  for (const std::string& text : texts_of(given, "size"))
    for (const auto& [name, value] : parse_assignments(text, "--size"))
      filter.sizes[name] = parse_count(value, "--size");
  for (const std::string& text : texts_of(given, "choice"))
    for (const auto& [name, value] : parse_assignments(text, "--choice")) filter.choices[name] = value;
  return filter;
}

}  // namespace

void add_results_options(po::options_description& options) {
  for (const ResultsOption& option : kResultsOptions)
    options.add_options()(option.name, po::value<std::string>()->value_name("FILE.json"), option.help);
  options.add_options()("size,s", po::value<Texts>()->value_name("n=1e6"), "of these: tunings for this size only");
  options.add_options()("choice", po::value<Texts>()->value_name("T=float"), "of these: tunings for this choice only");
}

bool asks_for_results(const po::variables_map& given) {
  return std::any_of(std::begin(kResultsOptions), std::end(kResultsOptions),
                     [&](const ResultsOption& option) { return given.count(option.name) > 0; });
}

int export_results(const po::variables_map& given) {
  for (const ResultsOption& option : kResultsOptions)
    if (given.count(option.name) && text_of(given, option.name) != "-")
      require_output(text_of(given, option.name), OutputKind::results, given["force"].as<bool>(),
                     std::string("--") + option.name);
  convert::TuningFilter filter = read_tuning_filter(given);
  std::vector<std::string> order;
  std::optional<KernelSpec> spec;  // of a kernel that a database knows alone the parameters go by name
  if (!filter.kernel.empty()) spec = kernel_named(filter.kernel);
  if (spec) {
    filter.kernel = spec->name;
    filter.source_hash = to_record(*spec, Objective()).source_hash;
    for (const TuningParameter& parameter : spec->space.parameters()) order.push_back(parameter.name);
  }
  cache::Database database = open_for_reading(database_file(given));
  const std::vector<RecordedTuning> tunings = convert::recorded_tunings(std::span(&database, 1), filter);

  for (const ResultsOption& option : kResultsOptions) {
    if (!given.count(option.name)) continue;
    const std::string name = option.name, file = text_of(given, option.name);
    const RecordedTuning& tuning = only_one(tunings, option);
    const std::string text = name == "t4" ? convert::t4_text(tuning) : convert::kernel_tuner_cache_text(tuning, order);
    if (file == "-") {
      print(text);
    } else {
      cache::write_text(file, text);
      std::fprintf(stderr, "%s written\n", file.c_str());
    }
  }
  return kDone;
}

}  // namespace tuner::cli
