#include <tuner/session/tuning/host_check.hpp>

#include <algorithm>
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

namespace tuner {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 20;  // in all buffers together

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

HostCheck::HostCheck(const KernelSpec& spec, const ProblemSize& size, HostCheckOptions options)
    : spec_(spec), size_(complete(spec, size)), options_(std::move(options)) {}

HostCheck::~HostCheck() {
  ending_ = true;
  if (ahead_.valid()) ahead_.wait();
}

bool HostCheck::must_stop() const {
  return ending_ || (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed));
}

bool HostCheck::is_late() const { return options_.until && Clock::now() >= *options_.until; }

std::vector<HostCheck::Problem> HostCheck::problems() const {
  std::vector<Problem> all{{size_, false}};
  for (const VerifyProblem& problem : verify_problems(spec_, size_, limits_))
    if (!problem.is_own()) all.push_back({problem.size, false});
  const auto elements = [&](const Problem& one) { return elements_of(spec_, one.size, limits_); };
  std::erase_if(all, [&](const Problem& one) { return elements(one) > kMostElements; });
  std::sort(all.begin(), all.end(), [&](const Problem& a, const Problem& b) { return elements(a) > elements(b); });
  if (auto smaller = made_smaller(spec_, size_, limits_, kMostElements, names_of(spec_.sizes)))
    all.push_back({std::move(*smaller), true});
  return all;
}

const HostCheck::Problem* HostCheck::problem_for(const Configuration& configuration, std::string& why_not) {
  if (problems_.empty()) {
    limits_ = choose_device("host").device.limits;
    problems_ = problems();
  }
  if (problems_.empty()) why_not = "no problem is small enough: add a `verify` line";
  for (const Problem& problem : problems_) {
    const auto reason = why_invalid(spec_, problem.size, limits_, configuration);
    if (!reason) return &problem;
    why_not = first_line(*reason);
  }
  return nullptr;
}

std::optional<Trial> HostCheck::evaluate(const Problem& problem, const Configuration& configuration) {
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
      longest_s_ = std::max<double>(longest_s_, seconds);
      return std::move(*trial);
    }
  }
  spent_s_ = options_.seconds;
  evaluators_.clear();
  return std::nullopt;
}

HostCheck::Answer HostCheck::look(const Configuration& configuration) try {
  if (spec_.reference_kind() == ReferenceKind::none || !IsolatedEvaluator::can_isolate(spec_))
    return {{}, "there is no kernel file with a reference"};
  if (is_late()) return {{}, kTimeEnded};
  if (spent_s_ >= options_.seconds || tried_++ >= options_.trials)
    return {{}, fmt::format("its limit of {} configurations and {} s is reached", options_.trials, options_.seconds)};
  std::string unfit;
  const Problem* const problem = problem_for(configuration, unfit);
  if (problem == nullptr) return {{}, unfit};
  const std::optional<Trial> trial = evaluate(*problem, configuration);
  if (!trial && must_stop()) return {{}, "it was interrupted"};
  if (!trial && is_late()) return {{}, kTimeEnded};
  if (!trial) return {{}, fmt::format("it takes longer than {} s there", options_.seconds)};
  if (trial->verified && trial->measurement() != nullptr) return {};

  const std::string said = std::string(message(trial->outcome));
  const Answer wrong{WrongResult{"on the host backend: " + said}, {}};
  if (depends_on_order(trial->outcome)) return wrong;
  const bool differs = std::holds_alternative<WrongResult>(trial->outcome);
  if (const std::string_view doubt = doubt_about_host(spec_); differs && !doubt.empty())
    return {{}, first_line(said) + ": " + std::string(doubt)};
  if (differs && !problem->made_smaller) return wrong;
  if (differs && spec_.default_configuration && configuration != *spec_.default_configuration &&
      !why_invalid(spec_, problem->size, limits_, *spec_.default_configuration)) {
    const std::optional<Trial> other = evaluate(*problem, *spec_.default_configuration);
    if (other && other->verified && other->measurement() != nullptr) return wrong;
  }
  return {{},
          std::holds_alternative<CompileError>(trial->outcome) ? "it does not compile for the host" : first_line(said)};
} catch (const std::exception& error) {  // also when there are too many threads
  return {{}, first_line(error.what())};
}

void HostCheck::expect(const Configuration& configuration) try {
  const bool is_busy = ahead_.valid() && ahead_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  if (is_busy || answers_.contains(configuration)) return;
  if (2 * spent_s_ >= options_.seconds || 2 * tried_ >= options_.trials) return;
  ahead_ = std::async(std::launch::async, [this, configuration] { return look(configuration); });
  answers_.emplace(configuration, ahead_);
} catch (const std::system_error&) {  // too many threads: ask() looks
}

HostCheck::Answer HostCheck::ask(const Configuration& configuration) {
  if (ahead_.valid()) ahead_.wait();
  auto answer = answers_.find(configuration);
  if (answer == answers_.end()) {
    const auto now = [this, configuration] { return look(configuration); };
    answer = answers_.emplace(configuration, std::async(std::launch::deferred, now)).first;
  }
  return answer->second.get();
}

}  // namespace tuner
