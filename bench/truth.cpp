// How true are tuner's winners and times? Prints five numbers, with their goals. docs/measuring.md explains them.
//
//   1 winners: the regret of tunings with different seeds.
//   2 seeds: how often two tunings of a problem differ in the winner, and by how much in time.
//   3 told: the stored time over that of the search, the finalists, `tune run`, and a served call.
//   4 classes: how much a call loses at a size between tuned ones.
//   5 compare: false alarms and misses of comparisons.
//
// Tunings begin with empty caches. Winners are replayed in new processes, all of them in turns in each.
//
//   truth [--device cuda|host] [--part 1|winners]... [--problem "KERNEL SIZE=N..."]... [--seeds 12] [--seed 1]
//         [--budget 7] [--trials N] [--samples 15] [--class-budget 3] [--draws 2] [--comparisons 3] [--placements 16]
//         [--json FILE]
//   truth --quick          a short form without goals, about half a minute
//   truth --plan ...       only says how long the parts take
//   truth --join FILE...   prints the whole of split runs
//
// --problem: `n=2^14` is a number; choices such as T=double may follow. Problems of bench/data/slowed.cu are for the
// part `compare`, all others for the other parts. --budget: seconds of a tuning. --json: adds what was found to FILE
// after each problem; one that fails is left out. Exit status 0: nothing failed, and all goals hold for which something
// was measured.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <bench/options.hpp>
#include <bench/truth/parts.hpp>
#include <bench/truth/served.hpp>
#include <bench/truth/table.hpp>

#include <tuner/core/values/elapsed.hpp>
#include <tuner/session/tuning/device_choice.hpp>

namespace {

using bench::truth::Lab;
using bench::truth::Options;
using bench::truth::Step;
using Json = nlohmann::json;

struct Command {
  Options options;
  std::string json;
  bool plan = false, quick = false;
  std::string served;
};

std::string part_name(const std::string& text) {
  constexpr auto& parts = bench::truth::kParts;
  for (const char* part : parts)
    if (text == part) return text;
  return parts[bench::number(text, 1, std::size(parts)) - 1];
}

Command parse(int argc, char** argv) {
  Command command;
  Options& options = command.options;
  std::size_t budget = 7, class_budget = 3;
  bench::parse(argc, argv,
               {{"--device", bench::into(options.device)},
                {"--part", [&](const std::string& text) { options.parts.push_back(part_name(text)); }},
                {"--problem", [&](const std::string& text) { options.problems.push_back(text); }},
                {"--seeds", bench::into(options.seeds, 1, 1000)},
                {"--seed", bench::into(options.first_seed)},
                {"--budget", bench::into(budget, 1, 3600)},
                {"--trials", bench::into(options.limits.trials, 1)},
                {"--samples", bench::into(options.samples, 1, 1000)},
                {"--class-budget", bench::into(class_budget, 1, 3600)},
                {"--draws", bench::into(options.draws, 1, 1000)},
                {"--comparisons", bench::into(options.comparisons, 1, 1000)},
                {"--placements", bench::into(options.placements, 1, 1000)},
                {"--json", bench::into(command.json)},
                {"--served", bench::into(command.served)}},
               {{"--plan", &command.plan}, {"--quick", &command.quick}});
  options.limits.seconds = static_cast<double>(budget);
  options.class_budget = static_cast<double>(class_budget);
  if (command.quick) {
    if (options.problems.empty()) options.problems = {"reduce n=2^14", "bench/data/slowed.cu n=2^24 steps=0"};
    options.seeds = 2, options.limits.seconds = 2, options.class_budget = 1;
    options.samples = 3, options.draws = 1, options.comparisons = 1, options.placements = 12;
  }
  return command;
}

std::string minutes(double seconds) {
  const auto whole = static_cast<int>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

double sum(const std::vector<Step>& steps, std::size_t from = 0) {
  double seconds = 0;
  for (std::size_t i = from; i < steps.size(); ++i) seconds += steps[i].seconds;
  return seconds;
}

/// The findings in \p file; none if it does not exist.
Json read(const std::string& file, bool may_be_missing) {
  std::ifstream in(file);
  if (!in && may_be_missing) return Json::array();
  if (!in) throw std::invalid_argument(file + " cannot be read");
  const Json json = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("findings") || !json.at("findings").is_array())
    throw std::invalid_argument(file + " was not written by truth --json");
  return json.at("findings");
}

void write(const std::string& file, const Json& findings) {
  const Json json{{"numbers", bench::truth::table_of(findings).json}, {"findings", findings}};
  if (!(std::ofstream(file) << json.dump(1) << '\n')) throw std::runtime_error(file + " cannot be written");
}

int print(const Json& findings) {
  const bench::truth::Table table = bench::truth::table_of(findings);
  fmt::print("{}", table.text);
  return table.holds ? EXIT_SUCCESS : EXIT_FAILURE;
}

int join(const std::vector<std::string>& files) {
  if (files.empty()) throw std::invalid_argument("--join needs files");
  Json all = Json::array();
  for (const std::string& file : files)
    for (const Json& one : read(file, false)) all.push_back(one);
  return print(all);
}

int run(const Command& command) {
  const std::vector<Step> steps = bench::truth::steps(command.options);
  if (command.plan) {
    for (const Step& step : steps) fmt::print("{:>6.0f} s  {}\n", step.seconds, step.what);
    fmt::print("{} together\n", minutes(sum(steps)));
    return EXIT_SUCCESS;
  }
  Json stored = command.json.empty() ? Json::array() : read(command.json, true);
  Lab lab(command.options.device);
  fmt::print("{} ({})\n\n", lab.device().name, lab.device().key.text());
  const tuner::Clock::time_point begin = tuner::Clock::now();
  Json found = Json::array();
  bool complete = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    fmt::print(stderr, "truth: {} gone, about {} left: {}\n", minutes(tuner::seconds_since(begin)),
               minutes(sum(steps, i)), steps[i].what);
    try {
      found.push_back(steps[i].work(lab));
    } catch (const tuner::Error& error) {
      fmt::print(stderr, "truth: {}: {}\n", steps[i].what, error.what());
      complete = false;
      continue;
    }
    found.back()["device"] = lab.device().key.text();
    stored.push_back(found.back());
    if (!command.json.empty()) write(command.json, stored);
  }
  const int status = print(found);
  fmt::print("\n{}\n", minutes(tuner::seconds_since(begin)));
  if (command.quick) fmt::print("too few tunings and comparisons for the goals\n");
  if (!complete) return EXIT_FAILURE;
  return command.quick ? EXIT_SUCCESS : status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "--join") return join({argv + 2, argv + argc});
    const Command command = parse(argc, argv);
    if (!command.served.empty()) return bench::truth::print_served(command.served, command.options.device);
    return run(command);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "truth: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
