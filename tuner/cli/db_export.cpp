// `tune db export`: results as reviewable text, and in the files of other programs.
#include <tuner/cli/db_actions.hpp>

#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/convert/results_files.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {

#ifndef TUNER_HAS_CUDA
int export_images(const Given&) { throw Error("this program was built without the CUDA headers: images need them"); }
#endif

namespace {

using convert::RecordedTuning;

void write(const std::string& file, const std::string& text) {
  if (write_or_print(file, text)) std::fprintf(stderr, "%s written\n", file.c_str());
}

/// The database to export, and the part of it that is asked for.
struct Source {
  explicit Source(const Given& given)
      : database(open_for_reading(database_file(given))), filter(read_filter(given, {&database, 1})) {}
  cache::Database database;
  cache::Filter filter;
};

int export_wisdom(const Given& given) {
  const std::string file = given.text("file");
  require_output_or_stdout(given, file, OutputKind::wisdom_text, "export");
  Source source(given);
  write(file, given.flag("all") ? cache::export_all(source.database, source.filter)
                                : cache::export_wisdom(source.database, source.filter));
  return kDone;
}

/// One tuning, with the order of its kernel's parameters. Throws UsageError that says how to choose one of several.
struct OneTuning {
  explicit OneTuning(const Given& given) {
    require_output_or_stdout(given, given.text("file"), OutputKind::results, "export");
    Source source(given);
    convert::TuningFilter filter{source.filter.kernel, source.filter.device_key, {}, {}, {}};
    for (const std::string& text : given.texts("size"))
      for (const auto& [name, value] : parse_assignments(text, "--size"))
        filter.sizes[name] = parse_count(value, "--size");
    for (const std::string& text : given.texts("choice"))
      for (const auto& [name, value] : parse_assignments(text, "--choice")) filter.choices[name] = value;
    // The parameters of a kernel that only a database knows go by name.
    if (const auto spec = given.has("kernel") ? kernel_named(given.text("kernel")) : std::nullopt) {
      filter.source_hash = to_record(*spec, Objective()).source_hash;
      for (const TuningParameter& parameter : spec->space.parameters()) order.push_back(parameter.name);
    }
    std::vector<RecordedTuning> all = convert::recorded_tunings({&source.database, 1}, filter);
    if (all.size() != 1) {
      std::string list;
      for (std::size_t i = 0; i < all.size() && i < 12; ++i) list += "\n  " + convert::title(all[i].key);
      throw UsageError(fmt::format(
          "--as {} is of one tuning, and {} match; choose with --kernel, --device, --size and --choice:{}{}",
          given.text("as"), all.size(), list, all.size() > 12 ? "\n  …" : ""));
    }
    tuning = std::move(all.front());
  }
  RecordedTuning tuning;
  std::vector<std::string> order;
};

int export_t4(const Given& given) {
  write(given.text("file"), convert::t4_text(OneTuning(given).tuning));
  return kDone;
}

int export_kernel_tuner(const Given& given) {
  const OneTuning one(given);
  write(given.text("file"), convert::kernel_tuner_cache_text(one.tuning, one.order));
  return kDone;
}

}  // namespace

int db_export(const Given& given) {
  if (given.texts("file").size() != 1) throw UsageError("export writes one file: tune db export FILE");
  return run_action(given,
                    {{"wisdom", export_wisdom, {"db", "kernel", "device", "as", "all", "force"}},
                     {"header", export_header, {"db", "kernel", "device", "as", "portfolio", "force"}},
                     {"t4", export_t4, {"db", "kernel", "device", "as", "size", "choice", "force"}},
                     {"kernel-tuner", export_kernel_tuner, {"db", "kernel", "device", "as", "size", "choice", "force"}},
                     {"images", export_images, {"db", "kernel", "device", "as", "arch", "force"}}},
                    given.text("as"), "--as");
}

}  // namespace tuner::cli
