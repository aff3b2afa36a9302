#include <tuner/cli/commands/db/export_images.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <variant>

#include <cache/query/image_files.hpp>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/commands/program.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/session/wisdom/kept_images.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

struct Known {
  KernelSpec spec;
  std::vector<cache::BestRecord> best;
};

std::map<std::string, Known> known_kernels(const Given& given) {
  std::vector<cache::Database> databases = open_all_for_reading(given);
  const cache::Filter filter = read_filter(given, databases);
  KernelsByName specs(given.has("kernel") ? kernel_named(given.text("kernel")) : std::nullopt);
  std::map<std::string, Known> kernels;
  for (cache::Database& database : databases)
    for (cache::BestRecord& best : cache::best_rows(database, filter)) {
      if (best.device.backend != kCudaBackend) continue;
      const KernelSpec* const spec = specs.find(best.kernel.name);
      if (spec == nullptr || to_record(*spec, Objective()) != best.kernel) continue;
      const auto at = kernels.try_emplace(best.kernel.name, Known{*spec, {}}).first;
      at->second.best.push_back(std::move(best));
    }
  if (kernels.empty())
    throw Error(ErrorCode::not_found,
                "there are no results of GPUs for the kernels that are known here: tune them first, or name a database "
                "(--db FILE)");
  return kernels;
}

/// `--arch`, else the chips of the results, and PTX for the oldest of them.
std::vector<std::string> architectures(const Given& given, const std::map<std::string, Known>& kernels) {
  if (given.has("arch")) {
    std::vector<std::string> names = split(given.texts("arch"), ',');
    for (const std::string& name : names) {
      if (virtual_capability(name)) continue;
      const std::optional<int> chip = cuda::compute_capability(name);
      if (!chip)
        throw UsageError("--arch {}: not an architecture; give a chip, as in sm_90, or PTX, as in compute_90", name);
      if (name != cuda::architecture_name(*chip))
        throw UsageError("--arch {}: give the chip without a suffix; kernels that need one are compiled with it", name);
    }
    return names;
  }
  std::set<int> capabilities;
  for (const auto& [name, known] : kernels)
    for (const cache::BestRecord& best : known.best) capabilities.insert(best.device.compute_capability);
  std::vector<std::string> names;
  for (const int one : capabilities) names.push_back(cuda::architecture_name(one));
  names.push_back(fmt::format("compute_{}", *capabilities.begin()));
  return names;
}

/// The compile requests for one kernel and one architecture, by the names of the files. For every size that is known,
/// as the launches may differ between sizes.
std::map<std::string, CompileRequest> requests_of(const Known& known, const std::string& architecture) {
  const KernelSpec& spec = known.spec;
  const std::optional<int> is_virtual = virtual_capability(architecture);
  const DeviceLimits limits =
      cuda::limits_of_architecture(is_virtual ? cuda::architecture_name(*is_virtual) : architecture);
  std::set<cache::Sizes> all_sizes;
  for (const cache::BestRecord& best : known.best) all_sizes.insert(best.problem.sizes);
  std::map<std::string, CompileRequest> all;
  const auto add = [&](const std::map<std::string, std::string>& choices, const Configuration& configuration) {
    for (const cache::Sizes& sizes : all_sizes) {
      const ProblemSize size = complete(spec, {sizes, choices});
      if (why_invalid(spec, size, limits, configuration)) continue;
      CompileRequest request = call_request(spec, size, limits, architecture, configuration);
      if (is_virtual && request.device_launches) continue;  // they are linked for a chip
      all.try_emplace(served_image_name(request, kCudaBackend), std::move(request));
    }
  };
  for (const cache::BestRecord& best : known.best)
    if (is_virtual || cuda::architecture_name(best.device.compute_capability) == architecture)
      add(from_record(best.problem).choices, Configuration::parse(best.configuration));
  if (!spec.default_configuration) return all;
  std::map<std::string, std::vector<std::string>> values;
  for (const ChoiceSpec& choice : spec.choices) values[choice.name] = choice.values;
  for (const auto& choices : combinations(values)) add(choices, *spec.default_configuration);
  return all;
}

/// Compiles \p requests on all cores, until \p stop, and puts the images into \p folder. Returns how many were done,
/// and warns of those that do not compile.
std::size_t compile_all(const fs::path& folder, const std::vector<CompileRequest>& requests,
                        const std::atomic<bool>& stop, std::size_t& failures) {
  const std::unique_ptr<Compiler> compiler = open_compiler(kCudaBackend);
  std::mutex mutex;
  std::size_t done = 0;
  on_all_cores(requests.size(), [&](std::size_t i) {
    if (stop) return;
    const CompileResult result = compiler->compile(requests[i]);
    if (const auto* const image = std::get_if<Image>(&result)) ship_image(folder, requests[i], kCudaBackend, *image);
    const std::lock_guard lock(mutex);
    if (const auto* const error = std::get_if<CompileError>(&result)) {
      ++failures;
      warn(fmt::format("{} for {}: {}", requests[i].file_name, requests[i].architecture, error->message));
    }
    if (++done % 10 == 0 || done == requests.size())
      Console(stderr, false).line("{} of {} images compiled", done, requests.size());
  });
  return done;
}

}  // namespace

int export_images(const Given& given) {
  const fs::path folder = given.text("file");
  refuse_standard_output(folder, "export --as images");
  const std::map<std::string, Known> kernels = known_kernels(given);
  const std::vector<std::string> names = architectures(given, kernels);
  std::vector<CompileRequest> requests;
  std::size_t there = 0;
  for (const auto& [name, known] : kernels)
    for (const std::string& architecture : names)
      for (auto& [file, request] : requests_of(known, architecture)) {
        if (!given.flag("force") && fs::exists(cache::image_file(folder, architecture, file)))
          ++there;
        else
          requests.push_back(std::move(request));
      }
  const std::atomic<bool>& interrupted = catch_interrupts();
  std::size_t failures = 0;
  const std::size_t done = compile_all(folder, requests, interrupted, failures);
  Console(stderr, false)
      .line("{}: {} images of {}, {} of them were there", (folder / "images").string(), there + done - failures,
            plural(kernels.size(), "kernel"), there);
  if (interrupted) return kInterrupted;
  return failures == 0 ? kDone : kFailed;
}

}  // namespace tuner::cli
