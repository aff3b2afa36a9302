#include <tuner/cli/print/progress.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <sstream>

#include <fmt/ranges.h>

#include <tuner/cli/print/table.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/numbers/throughput.hpp>

namespace tuner::cli {
namespace {

/// `12.3 us 4.21 TB/s`, or the arithmetic rate if arithmetic is the limit; empty without a measurement.
std::string best_text(const SessionPlan& plan, const Trial* best) {
  const Measurement* const measured = best ? best->measurement() : nullptr;
  if (!measured) return {};
  std::string text = format_ns(measured->median_ns);
  const Throughput rate = throughput(*plan.spec, *plan.size, *plan.device, measured->median_ns);
  if (rate.arithmetic_leads())
    text += ' ' + format_flops(*rate.flops_per_second);
  else if (rate.bytes_per_second)
    text += ' ' + format_rate(*rate.bytes_per_second);
  return text;
}

std::string bar(double fraction) {
  constexpr std::size_t kLength = 16;
  const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * kLength);
  return '[' + std::string(filled, '#') + std::string(kLength - filled, '-') + ']';
}

/// The part of the planned trials that is done, or else of the time.
double done_fraction(const Progress& progress) {
  if (progress.planned && *progress.planned > 0)
    return static_cast<double>(progress.finished) / static_cast<double>(*progress.planned);
  if (!progress.remaining) return 0;
  const double whole = progress.elapsed.count() + progress.remaining->count();
  return whole > 0 ? progress.elapsed.count() / whole : 1;
}

/// The time, or the reason why there is none, with all that the compiler says.
std::string result_text(const Trial& trial) {
  if (const Measurement* const measured = trial.measurement()) return format_ns(measured->median_ns);
  const std::string_view whole = message(trial.outcome);
  std::string text = fmt::format("{}: {}", kind(trial.outcome), whole.substr(0, whole.find('\n')));
  if (const auto* const failed = std::get_if<CompileError>(&trial.outcome)) {
    std::istringstream lines(failed->log);
    for (std::string line; std::getline(lines, line);) text += "\n    " + line;
  }
  return text;
}

}  // namespace

std::size_t OutcomeCounts::failures() const {
  return std::accumulate(counts_.begin() + 1, counts_.end(), std::size_t{0});  // the first kind is ok
}

std::string OutcomeCounts::text() const {
  std::string text;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts_[i], outcome_names()[i]);
  return text;
}

std::string progress_line(const Progress& progress, const OutcomeCounts& counts, const std::vector<std::size_t>& lanes,
                          std::string_view best, std::size_t width) {
  const double seconds = progress.elapsed.count();
  std::string done = fmt::format("{}", progress.finished);
  if (progress.planned) done += fmt::format("/{}", *progress.planned);
  std::vector<std::string> parts{done};  // most important first
  if (!best.empty()) parts.push_back(fmt::format("best {}", best));
  if (progress.remaining) parts.push_back(fmt::format("{} left", format_seconds(progress.remaining->count())));
  if (seconds > 0) parts.push_back(fmt::format("{:.3g}/s", static_cast<double>(progress.finished) / seconds));
  parts.push_back(counts.text());
  if (lanes.size() > 1) parts.push_back(fmt::format("lanes {}", fmt::join(lanes, " ")));
  if (progress.resumed > 0) parts.push_back(fmt::format("{} resumed", progress.resumed));

  std::string line = bar(done_fraction(progress)) + ' ' + parts[0];
  if (display_width(line) > width) line = parts[0].substr(0, width);
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!parts[i].empty() && display_width(line) + 2 + display_width(parts[i]) <= width) line += "  " + parts[i];
  return line;
}

TrialLog::TrialLog(std::string path, Console& console)
    : path_(std::move(path)),
      console_(console),
      file_(path_ == "-" ? ::fdopen(::dup(STDOUT_FILENO), "a") : std::fopen(path_.c_str(), "ae")) {
  if (file_ == nullptr) throw Error(fmt::format("--log {}: cannot be written: {}", path_, std::strerror(errno)));
}

TrialLog::~TrialLog() { std::fclose(file_); }

void TrialLog::add(const SessionPlan& plan, const Trial& trial, const Progress& progress) {
  Json line{{"kernel", plan.spec->name},
            {"problem", plan.size->text()},
            {"device", plan.device->key.text()},
            {"elapsed_s", progress.elapsed.count()}};
  line.update(trial);
  const std::string text = json_text(line);
  // In one call: other sessions append to the same file.
  if (::write(::fileno(file_), text.data(), text.size()) != static_cast<ssize_t>(text.size()) &&
      all_written_.exchange(false))
    console_.warning("--log {}: cannot be written: {}", path_, std::strerror(errno));
}

void Output::text(const std::string& text) {
  if (as_ == Text::kept) kept_ += text;
  if (as_ != Text::printed) return;
  end_status();
  print(text);
  std::fflush(stdout);
}

void TuneListener::on_tuning(std::string_view why, const std::optional<Budget>& limits) {
  if (!why.empty()) output.line("cache     {}; tuning", why);
  if (limits && (limits->wall_time || limits->until_unlikely))
    output.line("budget    {}{}{} (--effort chooses)",
                limits->wall_time ? fmt::format("{:g} s", limits->wall_time->count()) : "",
                limits->wall_time && limits->until_unlikely ? ", or " : "",
                limits->until_unlikely
                    ? fmt::format("until an improvement by 1% is less likely than {:g}%", 100 * *limits->until_unlikely)
                    : "");
  if (limits && limits->trials) output.line("budget    1 trial: a size is 0, so that there is nothing to compare");
}

void TuneListener::on_start(const SessionPlan& plan) {
  plan_ = plan;
  counts_ = {};
  lanes_.assign(plan.lanes, 0);
  output.line("space     {} combinations, {} valid; strategy {}", format_count(plan.product),
              format_count(SpaceCount{static_cast<double>(plan.valid), plan.valid_is}), plan.strategy);
  if (plan.resumed > 0)
    output.line("resuming  {} of earlier runs {} taken over", plural(plan.resumed, "trial"),
                plan.resumed == 1 ? "is" : "are");
  if (plan.known_elsewhere > 0)
    output.line("prior     {} known at {}", plural(plan.known_elsewhere, "configuration"), plan.elsewhere);
  output.status([](std::size_t) { return std::string("compiling the first configurations"); });
}

void TuneListener::on_trial(const Trial& trial, const Progress& progress) {
  has_measured_ = has_measured_ || trial.measurement() != nullptr;
  counts_.add(trial.outcome);
  if (trial.lane > 0 && static_cast<std::size_t>(trial.lane) <= lanes_.size())
    ++lanes_[static_cast<std::size_t>(trial.lane) - 1];
  if (verbose) output.line("  {}  {}", trial.configuration.text(), result_text(trial));
  output.status([&](std::size_t width) {
    return progress_line(progress, counts_, lanes_, best_text(plan_, progress.best), width);
  });
  if (log) log->add(plan_, trial, progress);
  if (after_trial) after_trial();
}

void TuneListener::on_finalists(std::size_t count) {
  output.line("finalists {} measured again, side by side", plural(count, "configuration"));
}

void TuneListener::on_warning(std::string_view text) {
  output.warning(text);
  const std::lock_guard lock(warning_);
  warnings_.emplace_back(text);
}

}  // namespace tuner::cli
