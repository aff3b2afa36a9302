#include <tuner/worker/isolated_evaluator.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <cache/file/paths.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/printed_warning.hpp>
#include <tuner/measure/compile_queue.hpp>
#include <tuner/worker/evaluation_loop.hpp>

namespace tuner {

namespace {

IsolatedOptions with_defaults(IsolatedOptions options) {
  const bool here = options.here != nullptr;
  if (here) options.known_device = options.here->device();
  if (options.known_device) {
    options.backend = options.known_device->key.backend;
    if (options.devices.empty()) options.devices = {options.known_device->index};
  }
  if (options.devices.empty()) options.devices = {0};
  if (options.program.empty() && !here) options.program = find_worker_program();
  if (options.compile_workers == 0)
    options.compile_workers = std::clamp(std::thread::hardware_concurrency(), 1u, here ? 16u : 64u);
  options.warn = [warn = std::move(options.warn),
                  told = std::set<std::string, std::less<>>()](std::string_view text) mutable {
    // Workers repeat each other, and this process.
    if (warn && told.emplace(text).second && !is_printed_warning(text)) warn(text);
  };
  if (options.batch == 0)
    options.batch = compile_batch(options.backend, options.all_compile_workers(), options.search_learns);
  return options;
}

}  // namespace

bool IsolatedEvaluator::can_isolate(const KernelSpec& spec) {
  try {
    const KernelSpec parsed = parse_kernel_file(spec.program.text, spec.program.file, spec.program.sources);
    const auto& ours = spec.space.parameters();
    const auto& theirs = parsed.space.parameters();
    return parsed.name == spec.name &&
           std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [](const TuningParameter& a, const TuningParameter& b) { return a.name == b.name; });
  } catch (const Error&) {
    return false;
  }
}

IsolatedEvaluator::IsolatedEvaluator(const KernelSpec& spec, const ProblemSize& size, MeasureOptions measure,
                                     IsolatedOptions options) {
  if (options.here == nullptr && !can_isolate(spec))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: kernel '{}' is described in code; worker processes can only run kernel files",
                            spec.program.file, spec.name));
  loop_ = std::make_unique<worker::EvaluationLoop>(spec, complete(spec, size), std::move(measure),
                                                   with_defaults(std::move(options)));
}

IsolatedEvaluator::~IsolatedEvaluator() = default;

const Device& IsolatedEvaluator::device() {
  return *loop_->mailbox().wait([](worker::News& news) { return news.device ? &*news.device : nullptr; });
}

std::size_t IsolatedEvaluator::capacity() const {
  const IsolatedOptions& options = loop_->options();
  // A search that does not learn loses nothing by early proposals, and more of them keep its batches full.
  const std::size_t batches = options.search_learns ? 2 : 4;
  return std::max(batches * options.batch * options.all_compile_workers(), 4 * options.lanes());
}

void IsolatedEvaluator::submit(const Configuration& configuration, double best_ns) {
  ++in_flight_;
  loop_->post(&worker::EvaluationLoop::submit, configuration, best_ns);
}

std::optional<Event> IsolatedEvaluator::next_event(std::chrono::duration<double> patience) {
  if (in_flight_ == 0) throw std::logic_error("IsolatedEvaluator::next_event: nothing is in flight");
  const auto first = [](worker::News& news) {
    std::optional<Event> event;
    if (news.events.empty()) return event;
    event = std::move(news.events.front());
    news.events.pop_front();
    return event;
  };
  std::optional<Event> event = loop_->mailbox().wait(first, patience);
  if (event && !std::holds_alternative<Compiled>(*event)) --in_flight_;
  const Backend* const here = loop_->options().here;
  // Trials that ended before the fault may come after it: they do not count as its cause.
  if (const auto* trial = event ? std::get_if<Trial>(&*event) : nullptr; trial != nullptr && here != nullptr)
    if ((trial->crashed || is_machine_fault(trial->outcome)) && !here->usable()) usable_ = false;
  return event;
}

void IsolatedEvaluator::prefer(std::span<const Configuration> order) {
  loop_->post(&worker::EvaluationLoop::prefer, std::vector(order.begin(), order.end()));
}

void IsolatedEvaluator::withdraw(std::span<const Configuration> configurations) {
  loop_->post(&worker::EvaluationLoop::withdraw, std::vector(configurations.begin(), configurations.end()),
              worker::Taken::waiting);
}

void IsolatedEvaluator::abandon(std::span<const Configuration> configurations) {
  loop_->post(&worker::EvaluationLoop::withdraw, std::vector(configurations.begin(), configurations.end()),
              worker::Taken::running_too);
}

void IsolatedEvaluator::hurry() { loop_->post(&worker::EvaluationLoop::hurry); }

std::vector<Trial> IsolatedEvaluator::remeasure(std::span<const Configuration> finalists, double seconds,
                                                const std::function<bool()>& stop, Placement placement) {
  if (finalists.empty()) return {};
  const auto start = Clock::now();
  const auto is_over = [&] { return seconds_since(start) >= seconds || (stop && stop()); };
  constexpr std::chrono::milliseconds patience{20};
  const auto opened = [](worker::News& news) { return news.device.has_value(); };
  double left = seconds;
  while (!loop_->mailbox().wait(opened, patience)) {
    if (is_over()) return {};
    left = seconds - seconds_since(start);
  }
  loop_->post(&worker::EvaluationLoop::remeasure, std::vector(finalists.begin(), finalists.end()), left, placement);
  const auto measured = [](worker::News& news) { return std::exchange(news.finalists, std::nullopt); };
  for (;;) {
    if (std::optional<std::vector<Trial>> trials = loop_->mailbox().wait(measured, patience)) return *std::move(trials);
    if (!is_over()) continue;
    loop_->post(&worker::EvaluationLoop::give_up_finalists);
    return *loop_->mailbox().wait(measured);
  }
}

double IsolatedEvaluator::seconds_to_start() const {
  return *loop_->mailbox().wait([](worker::News& news) { return std::optional(news.start_s); });
}

std::vector<std::string> IsolatedEvaluator::remarks() const {
  return *loop_->mailbox().wait([](worker::News& news) { return std::optional(news.remarks); });
}

std::vector<LaneReport> IsolatedEvaluator::lanes() const {
  return *loop_->mailbox().wait([](worker::News& news) { return std::optional(news.lanes); });
}

std::filesystem::path find_worker_program() {
  namespace fs = std::filesystem;
  constexpr const char* name = "tuner-worker";
  std::error_code ignored;
  if (const char* given = std::getenv("TUNER_WORKER"); given != nullptr && *given != '\0') {
    if (fs::is_regular_file(given, ignored)) return given;
    throw WorkerError(ErrorCode::not_found, std::string("$TUNER_WORKER is ") + given + ", which is not a file");
  }
  std::vector<fs::path> places = {fs::read_symlink("/proc/self/exe", ignored).parent_path() / name};
  for (const fs::path& prefix : cache::installation_prefixes()) {
    places.push_back(prefix / "bin" / name);
    places.push_back(prefix / "libexec" / "tuner" / name);
  }
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) return place.lexically_normal();
    tried += (tried.empty() ? "" : ", ") + place.lexically_normal().string();
  }
  throw WorkerError(ErrorCode::not_found, std::string("the program ") + name + " is missing; looked for " + tried +
                                              ". Set TUNER_WORKER to its path.");
}

}  // namespace tuner
