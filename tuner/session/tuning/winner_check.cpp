#include <tuner/session/tuning/winner_check.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/sanitizer.hpp>

namespace tuner {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 20;  // in all buffers together

/// For compute-sanitizer's three tools, before it is known. Opening a context takes most of it.
constexpr double kSanitizerSeconds = 6;

constexpr const char* kTimeEnded = "the time of the tuning ended first; a larger budget checks it";

/// Runs each configuration once in every order.
MeasureOptions only_verifying(std::uint64_t seed) {
  MeasureOptions measure;
  measure.seed = seed;
  measure.interleave_all = true;
  measure.second_inputs = measure.own_problems = false;  // the GPU has run with them
  measure.abandon_factor = 0;
  measure.min_samples = measure.max_samples = 1;
  measure.max_seconds = 0;
  measure.hang_floor_s = 1;
  measure.first_run_s = 10;
  return measure;
}

}  // namespace

std::string_view doubt_about_host(const KernelSpec& spec) {
  constexpr std::string_view words[] = {"__CUDA_ARCH__", "__CUDA_ARCH_FEAT_SM90_ALL", "__CUDA_ARCH_SPECIFIC__",
                                        "__CUDA_ARCH_FAMILY_SPECIFIC__"};
  const auto has_guards = [&](const std::string& text) {
    return std::ranges::any_of(words, [&](std::string_view word) { return occurs_in_code(text, word); });
  };
  const Includes* const includes = spec.program.includes.get();
  const bool has_any = has_guards(spec.program.text) ||
                       (includes != nullptr && std::ranges::any_of(includes->files, [&](const IncludedFile& file) {
                          return has_guards(file.text);
                        }));
  return has_any ? kGuardedCode : std::string_view();
}

std::optional<CheckProblem> check_problem(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                          const Configuration& configuration, bool may_be_large, std::string& why_not) {
  const auto elements = [&](const CheckProblem& one) { return elements_of(spec, one.size, limits); };
  std::vector<CheckProblem> all, large;
  const auto add = [&](CheckProblem problem) {
    (elements(problem) <= kMostElements ? all : large).push_back(std::move(problem));
  };
  add({size, false});
  for (const VerifyProblem& problem : verify_problems(spec, size, limits))
    if (!problem.is_own()) add({problem.size, false});
  std::ranges::stable_sort(all, std::ranges::greater(), elements);
  const auto add_smaller = [&](const std::vector<std::string>& names) {
    if (auto smaller = made_smaller(spec, size, limits, kMostElements, names))
      all.push_back({*std::move(smaller), true});
  };
  const std::vector<std::string> names = names_of(spec.sizes);
  add_smaller(names);
  // A configuration may need one size as large as it is.
  for (std::size_t i = 0; names.size() > 1 && i < names.size(); ++i) {
    std::vector<std::string> others = names;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    add_smaller(others);
  }
  std::ranges::stable_sort(large, std::ranges::less(), elements);
  if (may_be_large) std::ranges::move(large, std::back_inserter(all));
  why_not = all.empty() ? "no problem is small enough: add a `verify` line" : "";
  for (CheckProblem& problem : all) {
    const auto reason = why_invalid(spec, problem.size, limits, configuration);
    if (!reason) return std::move(problem);
    if (why_not.empty())
      why_not =
          fmt::format("it is not valid for a small problem ({}: {}); a `verify` line can name one for which it is",
                      problem.size.sizes_text(), first_line(*reason));
  }
  return std::nullopt;
}

WinnerCheck::WinnerCheck(const KernelSpec& spec, const ProblemSize& size, WinnerCheckOptions options)
    : spec_(spec), size_(complete(spec, size)), options_(std::move(options)) {}

WinnerCheck::~WinnerCheck() {
  ending_ = true;
  if (ahead_.valid()) ahead_.wait();
}

bool WinnerCheck::must_stop() const {
  return ending_ || (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed));
}

bool WinnerCheck::is_late() const { return options_.until && Clock::now() >= *options_.until; }

std::optional<Trial> WinnerCheck::evaluate(const CheckProblem& problem, const Configuration& configuration) {
  std::unique_ptr<IsolatedEvaluator>& evaluator = evaluators_[problem.size.text()];
  const auto start = Clock::now();
  if (evaluator == nullptr) {
    IsolatedOptions isolated;
    isolated.backend = kHostBackend;
    isolated.compile_workers = 2;
    evaluator = std::make_unique<IsolatedEvaluator>(spec_, problem.size, only_verifying(options_.seed), isolated);
  }
  evaluator->submit(configuration, 0);
  while (!must_stop() && !is_late()) {
    const double left = options_.seconds - spent_s_ - seconds_since(start);
    if (left <= 0) break;
    auto event = evaluator->next_event(std::chrono::duration<double>(std::min(left, 0.2)));
    if (auto* trial = event ? std::get_if<Trial>(&*event) : nullptr) {
      const double seconds = seconds_since(start);
      spent_s_ += seconds;
      last_s_ = seconds;
      return std::move(*trial);
    }
  }
  spent_s_ = options_.seconds;
  evaluators_.clear();
  return std::nullopt;
}

WinnerCheck::Looked WinnerCheck::look(const Configuration& configuration) {
  const auto refused = [](std::string why) { return Looked{{{}, std::move(why)}, false}; };
  if (spec_.reference_kind() == ReferenceKind::none || !IsolatedEvaluator::can_isolate(spec_))
    return refused("there is no kernel file with a reference");
  if (is_late()) return refused(kTimeEnded);
  if (spent_s_ >= options_.seconds || tried_++ >= options_.trials)
    return refused(
        fmt::format("its limit of {} configurations and {} s is reached", options_.trials, options_.seconds));
  Looked looked{look_on_host(configuration)};
  if (options_.device && !looked.answer.why_not.empty() && !find_sanitizer().empty())
    last_s_ = std::max<double>(last_s_, kSanitizerSeconds);
  return looked;
}

WinnerCheck::Answer WinnerCheck::look_on_host(const Configuration& configuration) try {
  std::string unfit;
  if (!host_) host_ = choose_device(kHostBackend).device.limits;
  const auto problem = check_problem(spec_, size_, *host_, configuration, /*may_be_large=*/false, unfit);
  if (!problem) return {{}, unfit};
  const std::optional<Trial> trial = evaluate(*problem, configuration);
  if (!trial && must_stop()) return {{}, "it was interrupted"};
  if (!trial && is_late()) return {{}, kTimeEnded};
  if (!trial) return {{}, fmt::format("it takes longer than {} s there", options_.seconds)};
  if (trial->verified && trial->measurement() != nullptr) return {{}, {}, "host"};

  const std::string said = std::string(message(trial->outcome));
  const Answer wrong{WrongResult{"on the host backend: " + said}, {}};
  if (depends_on_order(trial->outcome)) return wrong;
  const bool differs = std::holds_alternative<WrongResult>(trial->outcome);
  if (const std::string_view doubt = doubt_about_host(spec_); differs && !doubt.empty())
    return {{}, first_line(said) + ": " + std::string(doubt)};
  if (differs && !problem->made_smaller) return wrong;
  if (differs && spec_.default_configuration && configuration != *spec_.default_configuration &&
      !why_invalid(spec_, problem->size, *host_, *spec_.default_configuration)) {
    const std::optional<Trial> other = evaluate(*problem, *spec_.default_configuration);
    if (other && other->verified && other->measurement() != nullptr) return wrong;
  }
  return {{},
          std::holds_alternative<CompileError>(trial->outcome) ? "it does not compile for the host" : first_line(said)};
} catch (const std::exception& error) {  // also when there are too many threads
  return {{}, first_line(error.what())};
}

void WinnerCheck::expect(const Configuration& configuration) try {
  const bool is_busy = ahead_.valid() && ahead_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  if (is_busy || answers_.contains(configuration)) return;
  if (2 * spent_s_ >= options_.seconds || 2 * tried_ >= options_.trials) return;
  ahead_ = std::async(std::launch::async, [this, configuration] { return look(configuration); });
  answers_.emplace(configuration, ahead_);
} catch (const std::system_error&) {  // too many threads: ask() looks
}

WinnerCheck::Answer WinnerCheck::ask(const Configuration& configuration) {
  if (ahead_.valid()) ahead_.wait();
  auto answer = answers_.find(configuration);
  if (answer == answers_.end()) {
    const auto now = [this, configuration] { return look(configuration); };
    answer = answers_.emplace(configuration, std::async(std::launch::deferred, now)).first;
  }
  const auto& [there, in_limits] = answer->second.get();
  return in_limits && options_.device && !there.why_not.empty() ? watch(configuration, there.why_not) : there;
}

WinnerCheck::Answer WinnerCheck::watch(const Configuration& configuration, std::string why_not_there) try {
  const auto start = Clock::now();
  const auto left = [&] { return options_.seconds - spent_s_ - seconds_since(start); };
  const auto may_go_on = [&] { return !must_stop() && !is_late() && left() > 0; };
  const auto failed = [&](const std::string& why) { return Answer{{}, why_not_there + ", and " + why}; };
  if (!may_go_on()) return {{}, std::move(why_not_there)};
  const std::filesystem::path program = find_sanitizer();
  if (program.empty())
    return failed("compute-sanitizer, which checks it on the GPU, is not installed: it comes with CUDA's toolkit");
  std::string unfit;
  const auto problem =
      check_problem(spec_, size_, options_.device->limits, configuration, /*may_be_large=*/true, unfit);
  if (!problem) return failed("compute-sanitizer cannot check it on the GPU: " + unfit);
  const Sanitizer sanitizer(program, spec_, *options_.device, options_.seed);
  std::optional<Answer> answer = sanitizer.ask(configuration, problem->size, problem->made_smaller, may_go_on);
  spent_s_ += seconds_since(start);
  last_s_ = seconds_since(start);
  if (!answer)
    return failed(must_stop() ? "compute-sanitizer was interrupted"
                  : is_late() ? fmt::format("compute-sanitizer did not end: {}", kTimeEnded)
                              : fmt::format("compute-sanitizer takes longer than {} s", options_.seconds));
  return answer->wrong || answer->why_not.empty() ? std::move(*answer) : failed(answer->why_not);
} catch (const std::exception& error) {
  return {{}, why_not_there + ", and compute-sanitizer cannot check it: " + first_line(error.what())};
}

}  // namespace tuner
