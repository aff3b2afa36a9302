#include <tuner/session/tuning/sanitizer.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/all/backends.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/program_path.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "compute-sanitizer";
constexpr std::string_view kMemcheck = "memcheck";
constexpr std::string_view kTools[] = {kMemcheck, "racecheck", "synccheck"};
constexpr std::string_view kMark = "=========";  // begins the lines that it writes itself
constexpr std::size_t kMostPlaces = 2;           // lines after the first one of a finding

/// The lines that the sanitizer itself wrote, without their mark.
std::vector<std::string_view> own_lines(std::string_view printed) {
  std::vector<std::string_view> lines;
  while (!printed.empty()) {
    const std::string_view line = printed.substr(0, printed.find('\n'));
    printed.remove_prefix(std::min(line.size() + 1, printed.size()));
    if (line.starts_with(kMark)) lines.push_back(line.substr(kMark.size()));
  }
  return lines;
}

/// The number of errors or hazards in "ERROR SUMMARY: 2 errors" or "RACECHECK SUMMARY: 1 hazard displayed (…)".
std::optional<std::size_t> count_in(std::string_view line) {
  constexpr std::string_view kSummary = "SUMMARY: ";
  const std::size_t at = line.find(kSummary);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kSummary.size());
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  return error == std::errc{} ? std::optional(count) : std::nullopt;
}

}  // namespace

fs::path find_sanitizer() {
  if (const fs::path found = find_program(kProgram); found.is_absolute()) return found;
  for (const fs::path& toolkit : toolkit_folders())
    for (const char* folder : {"bin", kProgram})
      if (const fs::path found = find_program((toolkit / folder / kProgram).string()); !found.empty()) return found;
  return {};
}

SanitizerReport read_sanitizer_report(std::string_view printed) {
  std::string first;
  std::size_t places = 0;
  bool is_first = false;  // the lines that follow belong to it
  std::optional<std::size_t> count;
  for (const std::string_view line : own_lines(printed)) {
    const std::string_view text = trimmed(line);
    if (const auto summed = count_in(text)) {
      count = summed;
      continue;
    }
    const bool goes_on = line.starts_with("     ");
    if (!goes_on) is_first = first.empty() && !text.empty() && text != "COMPUTE-SANITIZER";
    if (!is_first || places > kMostPlaces) continue;
    first += (first.empty() ? "" : goes_on && text.starts_with("and ") ? " " : ", ") + std::string(text);
    ++places;
  }
  first = printable(first);
  if (!count) return {{}, first.empty() ? "it printed no summary" : first};
  if (*count == 0) return {};
  if (first.starts_with("Internal")) return {{}, first};
  return {first.empty() ? fmt::format("{} errors", *count) : first, {}};
}

struct Sanitizer::Seen {
  SanitizerReport report;
  Outcome outcome;
};

Sanitizer::Sanitizer(fs::path program, const KernelSpec& spec, Device device, std::uint64_t seed)
    : program_(std::move(program)), spec_(spec), device_(std::move(device)), seed_(seed) {}

std::optional<Sanitizer::Seen> Sanitizer::watch(const WatchedRuns& runs, std::string_view tool,
                                                const Configuration& configuration, const Image& image,
                                                const MayGoOn& may_go_on) const {
  std::vector<std::string> watcher = {program_.string(),  "--tool", std::string(tool), "--print-limit", "1",
                                      "--show-backtrace", "no"};
  // An error that the program asks for, such as an attribute that a driver does not know, is not the kernel's.
  if (tool == kMemcheck)
    for (const char* word : {"--report-api-errors", "no"}) watcher.emplace_back(word);
  auto seen = runs.launch(configuration, image, watcher, may_go_on);
  if (!seen) return std::nullopt;
  return Seen{read_sanitizer_report(seen->printed), std::move(seen->outcome)};
}

/// Whether \p tool, which has found something in \p configuration, does not find the kernel's default configuration
/// clean. False without a default.
std::optional<bool> Sanitizer::finds_in_default(const WatchedRuns& runs, std::string_view tool,
                                                const Configuration& configuration, const ProblemSize& size,
                                                const MayGoOn& may_go_on) const {
  const std::optional<Configuration>& common = spec_.default_configuration;
  if (configuration == common) return true;
  if (!common || why_invalid(spec_, size, device_.limits, *common)) return false;
  const auto compiled = runs.compile(*common, may_go_on);
  if (!compiled) return std::nullopt;
  const auto* const image = std::get_if<Image>(&*compiled);
  if (image == nullptr) return false;
  const std::optional<Seen> seen = watch(runs, tool, *common, *image, may_go_on);
  if (!seen) return std::nullopt;
  return !seen->report.finding.empty() || !seen->report.trouble.empty();
}

std::optional<FinalistCheck::Answer> Sanitizer::ask(const Configuration& configuration, const ProblemSize& size,
                                                    bool is_doubtful, const MayGoOn& may_go_on) const {
  const WatchedRuns runs(spec_, size, device_, seed_);
  const auto compiled = runs.compile(configuration, may_go_on);
  if (!compiled) return std::nullopt;
  if (const auto* error = std::get_if<CompileError>(&*compiled))
    return FinalistCheck::Answer{{}, first_line(error->message)};
  const Image& image = std::get<Image>(*compiled);
  for (std::string_view tool : kTools) {
    const auto name = [&] { return fmt::format("{} --tool {}: ", kProgram, tool); };
    const std::optional<Seen> seen = watch(runs, tool, configuration, image, may_go_on);
    if (!seen) return std::nullopt;
    const auto& [report, outcome] = *seen;
    if (!report.trouble.empty()) return FinalistCheck::Answer{{}, name() + report.trouble};
    if (report.finding.empty()) {
      if (std::holds_alternative<Measurement>(outcome)) continue;
      return FinalistCheck::Answer{{}, name() + first_line(message(outcome))};
    }
    const WrongResult wrong{name() + report.finding + " on " + size.text()};
    if (tool == kMemcheck && !is_doubtful) return FinalistCheck::Answer{wrong, {}};
    const std::optional<bool> is_usual = finds_in_default(runs, tool, configuration, size, may_go_on);
    if (!is_usual) return std::nullopt;
    if (!*is_usual) return FinalistCheck::Answer{wrong, {}};
    return FinalistCheck::Answer{{},
                                 wrong.message +
                                     ". The default configuration is no different, so this may be the "
                                     "way in which the kernel synchronises"};
  }
  return FinalistCheck::Answer{{}, {}, fmt::format("{} {}", kProgram, fmt::join(kTools, " "))};
}

}  // namespace tuner
