// `tune db export`: results as reviewable text, and in the files of other programs.
#include <tuner/cli/commands/db/db_export.hpp>

#include <algorithm>
#include <set>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/commands/db/db_actions.hpp>
#include <tuner/cli/commands/db/export_images.hpp>
#include <tuner/cli/commands/program.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/convert/results_files.hpp>
#include <tuner/convert/tuned_header.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::cli {
namespace {

using convert::RecordedTuning;

void write(const std::string& file, const std::string& text) {
  if (write_or_print(file, text)) Console(stderr, false).line("{} written", printable(file));
}

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
      throw UsageError(
          "--as {} is of one tuning, and {} match; choose with --kernel, --device, --size and --choice:{}{}",
          given.text("as"), all.size(), list, all.size() > 12 ? "\n  …" : "");
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

/// Checks that a database's configurations may be served, before results become code of other programs.
class ServingCheck {
 public:
  /// \p known: a kernel whose file is read already; it is looked up by its name.
  explicit ServingCheck(std::optional<KernelSpec> known) : kernels_(std::move(known)) {}

  /// Why \p configuration may not be served for the problem of \p about on its device, by the kernel's space and the
  /// limits that are stored of the device. Nothing for a kernel that only a database knows.
  std::optional<std::string> operator()(const cache::Context& about, const std::string& configuration) {
    const KernelSpec* const spec = kernels_.find(about.kernel.name);
    if (spec == nullptr) return std::nullopt;
    std::optional<std::string> why;
    try {
      why = why_invalid(*spec, from_record(about.problem), from_record(about.device).limits,
                        Configuration::parse(configuration));
    } catch (const std::invalid_argument& error) {
      why = error.what();
    } catch (const Error& error) {
      why = error.what();
    }
    if (why) rejected_.emplace(about.kernel.name + ": " + configuration, *why);
    return why;
  }

  /// Prints one warning for what was rejected, and one for each kernel that could not be checked.
  void tell() const {
    for (const std::string& name : kernels_.unknown())
      warn(fmt::format("kernel {} is not known here: its configurations are not checked", printable(name)));
    if (rejected_.empty()) return;
    const auto& [what, why] = *rejected_.begin();
    warn(fmt::format("{} would not be served and {} left out: {} ({})", plural(rejected_.size(), "configuration"),
                     rejected_.size() == 1 ? "is" : "are", printable(what), printable(why)));
  }

 private:
  KernelsByName kernels_;
  std::map<std::string, std::string> rejected_;  // why, by kernel and configuration
};

/// The constraints on sizes, which the header cannot check for its user.
std::string size_constraints(const KernelSpec& spec) {
  std::string text;
  for (const Constraint& constraint : spec.space.constraints()) {
    const std::vector<std::string>& names = constraint.predicate.names();
    const bool of_size = std::any_of(names.begin(), names.end(), [&](auto& name) { return spec.find_size(name); });
    if (of_size) text += fmt::format("\n  {}", constraint.predicate.text());
  }
  return text.empty() ? "" : "The caller must make sure that sizes meet these constraints:" + text;
}

/// The attributes of launches, which the header's user must set: it has no launches.
std::string launch_attributes(const KernelSpec& spec) {
  std::string text;
  for (const LaunchSpec& launch : spec.launches) {
    std::string of_launch;
    const auto add = [&](const std::string& word, const std::string& value) {
      of_launch += (of_launch.empty() ? "" : "; ") + word + (value == "1" ? "" : ' ' + value);
    };
    if (launch.cluster)
      add("cluster", fmt::format("{}, {}, {}", (*launch.cluster)[0].text(), (*launch.cluster)[1].text(),
                                 (*launch.cluster)[2].text()));
    if (launch.cooperative) add("cooperative", launch.cooperative->text());
    if (launch.dependent) add("dependent", launch.dependent->text());
    if (launch.carveout) add("carveout", launch.carveout->text());
    if (!of_launch.empty()) text += fmt::format("\n  {}: {}", launch.name, of_launch);
  }
  return text.empty() ? "" : "The caller must launch with these attributes, by cudaLaunchKernelEx():" + text;
}

/// The header of one kernel. Reports its contents on stderr.
int export_header(const Given& given) {
  const std::string file = given.text("file");
  if (!given.has("kernel"))
    throw UsageError("a header holds one kernel; name it: tune db export --as header FILE --kernel NAME");
  require_output_or_stdout(given, file, OutputKind::header, "export");

  const std::optional<KernelSpec> spec = kernel_named(given.text("kernel"));
  convert::TunedOptions options;
  options.kernel = spec ? spec->name : given.text("kernel");
  if (KernelLibrary::is_path(given.text("kernel"))) options.file = given.text("kernel");
  convert::HeaderOptions header;
  if (spec) {
    options.source_hash = to_record(*spec, Objective()).source_hash;
    header.default_configuration = spec->default_configuration;
    header.remark = size_constraints(*spec);
    if (const std::string attributes = launch_attributes(*spec); !attributes.empty())
      header.remark += (header.remark.empty() ? "" : "\n") + attributes;
  }
  std::vector<cache::Database> databases = open_all_for_reading(given);
  options.device_key = read_filter(given, databases).device_key;
  ServingCheck check(spec);
  options.objection = std::ref(check);
  const convert::TunedResults results = convert::tuned_results(databases, options);
  check.tell();
  const std::string text = convert::header_text(results, header);
  const bool is_file = write_or_print(file, text);

  std::set<std::string> devices;
  for (const convert::TunedSize& row : results.rows) devices.insert(row.device.key);
  Console(stderr, false)
      .line("{} with {} on {}", is_file ? printable(file) + " written," : "a header",
            plural(results.rows.size(), "size"), plural(devices.size(), "device"));
  return kDone;
}

}  // namespace

#ifndef TUNER_HAS_CUDA
int export_images(const Given&) { throw Error("this program was built without the CUDA headers: images need them"); }
#endif

int db_export(const Given& given) {
  if (given.texts("file").size() != 1) throw UsageError("export writes one file: tune db export FILE");
  return run_action(given,
                    {{"wisdom", export_wisdom, {"db", "kernel", "device", "as", "all", "force"}},
                     {"header", export_header, {"db", "kernel", "device", "as", "force"}},
                     {"t4", export_t4, {"db", "kernel", "device", "as", "size", "choice", "force"}},
                     {"kernel-tuner", export_kernel_tuner, {"db", "kernel", "device", "as", "size", "choice", "force"}},
                     {"images", export_images, {"db", "kernel", "device", "as", "arch", "force"}}},
                    given.text("as"), "--as");
}

}  // namespace tuner::cli
