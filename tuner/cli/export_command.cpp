// `tune export`: results as reviewable text, and in the files of other programs.
#include <tuner/cli/commands.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/exports.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/convert/results_files.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

using convert::RecordedTuning;

/// The options whose files hold all trials of one tuning.
constexpr const char *kT4 = "t4", *kCache = "kernel-tuner-cache";

/// One tuning of several, or a message that says how to choose.
const RecordedTuning& only_one(const std::vector<RecordedTuning>& tunings, const std::string& option) {
  if (tunings.size() == 1) return tunings.front();
  std::string list;
  for (std::size_t i = 0; i < tunings.size() && i < 12; ++i) list += "\n  " + convert::title(tunings[i].key);
  throw UsageError(
      fmt::format("--{} is of one tuning, and {} match; choose with --kernel, --device-key, --size and "
                  "--choice:{}{}",
                  option, tunings.size(), list, tunings.size() > 12 ? "\n  …" : ""));
}

convert::TuningFilter read_tuning_filter(const Given& given) {
  convert::TuningFilter filter{given.text("kernel"), given.text("device-key"), {}, {}, {}};
  for (const std::string& text : given.texts("size"))
    for (const auto& [name, value] : parse_assignments(text, "--size"))
      filter.sizes[name] = parse_count(value, "--size");
  for (const std::string& text : given.texts("choice"))
    for (const auto& [name, value] : parse_assignments(text, "--choice")) filter.choices[name] = value;
  return filter;
}

void write(const std::string& file, const std::string& text) {
  if (write_or_print(file, text)) std::fprintf(stderr, "%s written\n", file.c_str());
}

int export_trials(const Given& given) {
  for (const std::string option : {kT4, kCache})
    if (given.has(option)) require_output_or_stdout(given, given.text(option), OutputKind::results, "--" + option);
  convert::TuningFilter filter = read_tuning_filter(given);
  std::vector<std::string> order;  // the parameters of a kernel that only a database knows go by name
  if (!filter.kernel.empty())
    if (const std::optional<KernelSpec> spec = kernel_named(filter.kernel)) {
      filter.kernel = spec->name;
      filter.source_hash = to_record(*spec, Objective()).source_hash;
      for (const TuningParameter& parameter : spec->space.parameters()) order.push_back(parameter.name);
    }
  cache::Database database = open_for_reading(database_file(given));
  const std::vector<RecordedTuning> tunings = convert::recorded_tunings(std::span(&database, 1), filter);
  if (given.has(kT4)) write(given.text(kT4), convert::t4_text(only_one(tunings, kT4)));
  if (given.has(kCache)) write(given.text(kCache), convert::kernel_tuner_cache_text(only_one(tunings, kCache), order));
  return kDone;
}

int export_wisdom(const Given& given, const std::string& file) {
  require_output_or_stdout(given, file, OutputKind::wisdom_text, "export");
  cache::Database database = open_for_reading(database_file(given));
  const cache::Filter filter = read_filter(given);
  require_known_kernel(filter, std::span(&database, 1));
  require_known_device(filter, std::span(&database, 1));
  write(file, given.flag("all") ? cache::export_all(database, filter) : cache::export_wisdom(database, filter));
  return kDone;
}

int run_export(const Given& given) {
  const Texts files = given.texts("file");
#ifdef TUNER_HAS_CUDA
  if (given.has("images")) {
    if (!files.empty()) throw UsageError("images go to their folder alone: leave FILE out");
    given.refuse({"all", "header", "portfolio", kT4, kCache, "size", "choice"}, "with --images");
    return export_images(given);
  }
  given.refuse({"arch"}, "without --images");
#endif
  const bool trials = given.has(kT4) || given.has(kCache);
  if (given.has("portfolio") && !given.has("header")) throw UsageError("--portfolio belongs to --header FILE");
  if (given.has("header") || trials) given.refuse({"all"}, "on a file for other programs");
  if (!trials) given.refuse({"size", "choice"}, "without --t4 or --kernel-tuner-cache");
  if (given.has("header")) {
    if (!files.empty()) throw UsageError("one export writes one file: either --header FILE or FILE");
    if (trials) throw UsageError("--header goes without other formats: export those by themselves");
    return export_header(given);
  }
  if (trials) {
    if (!files.empty()) throw UsageError("FILE is what holds results for tuner; give the others without it");
    return export_trials(given);
  }
  if (files.size() != 1) throw UsageError("export writes one file: tune export FILE");
  return export_wisdom(given, files[0]);
}

}  // namespace

Command export_command() {
  Options options(
      "Usage: tune export [options] FILE\n"
      "       tune export --header FILE.hpp --kernel NAME [--portfolio K]\n"
      "       tune export --t4 FILE.json --kernel NAME [--size n=1000]\n"
      "       tune export --images FOLDER [--arch sm_90,compute_90]\n"
      "Writes results as reviewable text, one JSON line each; `-` is stdout, a name in .gz is compressed.",
      "  tune export --kernel reduce h200.wisdom\n  tune export --all everything.gz\n"
      "  tune export --header tuned_reduce.hpp --kernel reduce --portfolio 4\n");
  add_database_options(options, true);
  options.flag("all", "sessions and every trial too, not only the best");
  options.text("header", "FILE.hpp", "a C++17 header of one kernel's best configurations, for programs without tuner");
  options.text("portfolio", "K",
               "of --header: at most K configurations for each device, those that lose least over all sizes");
  options.text(kT4, "FILE.json", "every trial of one tuning by the T4 schema");
  options.text(kCache, "FILE.json", "the same as a cache file of Kernel Tuner, for its simulation mode");
  options.texts("size,s", "n=1e6", "of these: tunings for this size only");
  options.texts("choice", "T=float", "of these: tunings for this choice only");
#ifdef TUNER_HAS_CUDA
  options.text("images", "FOLDER", "compiled images beside the wisdom in FOLDER, for machines without a compiler");
  options.texts("arch", "sm_90,compute_90",
                "of --images: chips, and PTX for later ones (default: those of the results)");
#endif
  options.flag("force,f", "replace a file that tuner did not write").arguments({"file..."});
  return {options, run_export};
}

}  // namespace tuner::cli
