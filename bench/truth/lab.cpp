#include <bench/truth/lab.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bench/job.hpp>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/values/count.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/kept_images.hpp>

namespace bench::truth {
namespace {

namespace fs = std::filesystem;
using tuner::Configuration;
using tuner::Error;
using tuner::Trial;

/// Of a replay in one process, with two samples each.
constexpr std::size_t kRounds = 15;

std::int64_t size_number(const std::string& text) {
  if (const auto value = tuner::parse_count(text)) return *value;
  throw std::invalid_argument(tuner::not_a_count(text));
}

std::string failures_of(const Problem& problem, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials)
    if (!trial.measurement())
      return fmt::format("{}: {} cannot be replayed: {}", problem.text(), trial.configuration.text(),
                         message(trial.outcome));
  return problem.text() + ": nothing was replayed";
}

}  // namespace

Problem Problem::parse(const std::string& text) {
  std::istringstream words(text);
  Problem problem;
  if (!(words >> problem.kernel)) throw std::invalid_argument("it is KERNEL SIZE=NUMBER...");
  const bool is_path = tuner::KernelLibrary::is_path(problem.kernel);
  problem.spec = tuner::KernelLibrary().find(is_path ? source_file(problem.kernel).string() : problem.kernel);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(word + ": it is NAME=VALUE");
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    const bool is_size = std::ranges::any_of(problem.spec.sizes, [&](const auto& size) { return size.name == name; });
    if (is_size)
      problem.size.sizes[name] = size_number(value);
    else
      problem.size.choices[name] = value;
  }
  problem.size = complete(problem.spec, std::move(problem.size));
  return problem;
}

std::string Problem::text() const {
  tuner::ProblemSize told = size;
  for (const tuner::ChoiceSpec& choice : spec.choices)
    if (told.choices[choice.name] == choice.values.front()) told.choices.erase(choice.name);
  const std::string choices = told.choices_text();
  return kernel + ' ' + size.sizes_text() + (choices.empty() ? "" : ' ' + choices);
}

Lab::Lab(const std::string& device) : device_name_(device), device_(tuner::choose_device(device).device) {
  use_new_folder();
}

fs::path Lab::use_new_folder() {
  const fs::path folder = root_.path() / std::to_string(folders_++);
  fs::create_directories(folder);
  use(folder);
  return folder;
}

// No other thread of this program runs between its measurements.
void Lab::use(const fs::path& folder) { ::setenv("TUNER_CACHE_DIR", folder.c_str(), 1); }

Tuned Lab::tune(const Problem& problem, std::uint64_t seed, const Limits& limits) {
  const tuner::Clock::time_point begin = tuner::Clock::now();
  tuner::Wisdom wisdom(tuner::WisdomOptions{});
  tuner::TuningOptions options;
  options.session.seed = seed;
  options.session.budget.wall_time = std::chrono::duration<double>(limits.seconds);
  options.session.budget.trials = limits.trials;
  options.host_check = true;
  options.origin = "truth";
  const tuner::SessionResult result = tune_kernel(problem.spec, problem.size, device_, wisdom, options, nullptr);
  if (!result.best) throw Error(fmt::format("{}: the tuning with seed {} found nothing", problem.text(), seed));

  Tuned tuned;
  tuned.configuration = result.best->configuration.text();
  tuned.trials = result.trials.size();
  tuned.search_ns = result.best->in_search().median_ns;
  tuned.final_ns = result.best->measurement()->median_ns;
  const tuner::cache::WisdomMatch match = wisdom.lookup(problem.spec, problem.size, device_);
  if (!match.best || match.best->configuration != tuned.configuration)
    throw Error(fmt::format("{}: {} was named, but a call is served with {}", problem.text(), tuned.configuration,
                            match.best ? match.best->configuration : "the default"));
  tuned.told_ns = match.best->median_ns;
  tuned.seconds = tuner::seconds_since(begin);
  return tuned;
}

std::string Lab::served(const Problem& problem, bool shipped) {
  tuner::WisdomOptions options;
  options.shipped = shipped;
  const tuner::cache::WisdomMatch match = tuner::Wisdom(options).lookup(problem.spec, problem.size, device_);
  if (match.best) return match.best->configuration;
  if (!problem.spec.default_configuration) throw Error(problem.text() + ": there is no default to serve");
  return problem.spec.default_configuration->text();
}

tuner::IsolatedOptions Lab::isolation() {
  tuner::IsolatedOptions options = tuner::workers_on(device_);
  options.images.get = [this](const tuner::CompileRequest& request, std::string_view compiler) {
    const std::lock_guard lock(mutex_);
    const auto at = images_.find(image_key(request, compiler));
    return at == images_.end() ? std::nullopt : std::optional(at->second);
  };
  options.images.put = [this](const tuner::CompileRequest& request, std::string_view compiler,
                              const tuner::Image& image) {
    const std::lock_guard lock(mutex_);
    images_[image_key(request, compiler)] = image;
  };
  return options;
}

Placement Lab::place(const Problem& problem, std::span<const std::string> configurations, std::uint64_t seed) {
  std::vector<Configuration> order;
  for (const std::string& text : configurations) order.push_back(Configuration::parse(text));
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  std::vector<Trial> trials;
  for (int attempt = 0; attempt < 2; ++attempt) {
    tuner::IsolatedOptions workers = isolation();
    if (!compiled_.insert(problem.text()).second) workers.compile_workers = 1;  // images are known by now
    tuner::MeasureOptions measure;
    measure.finalist_rounds = kRounds;
    tuner::IsolatedEvaluator evaluator(problem.spec, problem.size, measure, workers);
    trials = evaluator.remeasure(order);
    if (trials.size() != order.size() || !std::ranges::all_of(trials, [](const Trial& t) { return t.measurement(); }))
      continue;
    Placement placement;
    for (const Trial& trial : trials) placement[trial.configuration.text()] = trial.measurement()->samples_ns;
    return placement;
  }
  throw Error(failures_of(problem, trials));
}

double Lab::run_ns(const Problem& problem, const std::string& configuration) {
  std::vector<std::string> command{
      this_program().parent_path() / "tune", "run", problem.kernel, "--json", "--device", device_name_};
  if (tuner::KernelLibrary::is_path(problem.kernel)) command[2] = source_file(problem.kernel).string();
  std::string sizes;
  for (const auto& [name, value] : problem.size.sizes)
    sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ",", name, value);
  if (!sizes.empty()) command.insert(command.end(), {"--size", sizes});
  for (const auto& [name, value] : problem.size.choices)
    command.insert(command.end(), {"--choice", name + '=' + value});
  const nlohmann::json answer = nlohmann::json::parse(output_of(command));
  if (answer.at("configuration_text") != configuration)
    throw Error(fmt::format("{}: `tune run` runs {}, not {}", problem.text(),
                            answer.at("configuration_text").get<std::string>(), configuration));
  return answer.at("trial").at("median_ns").get<double>();
}

double Lab::call_ns(const Problem& problem) {
  const std::string text = output_of({this_program(), "--served", problem.text(), "--device", device_name_});
  return std::stod(text);
}

}  // namespace bench::truth
