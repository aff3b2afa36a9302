#include <tuner/worker/watched_runs.hpp>

#include <poll.h>

#include <future>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner {
namespace {

using worker::Message;

constexpr int kPatienceMs = 50;
constexpr std::size_t kMostPrinted = 1 << 20;
/// For the worker's own limit of a launch. The caller has a shorter one, but a watched kernel is slow.
constexpr double kLongestLaunch = 600;

struct Conversation {
  std::vector<Message> answers;
  std::string printed;
  std::string end;  ///< how the process ended
};

/// Sends \p messages to a worker, and returns what it answered until its process ended. Nothing if \p may_go_on has
/// returned false.
std::optional<Conversation> talk(const std::filesystem::path& program, std::span<const std::string> watcher,
                                 const std::vector<Message>& messages, const WatchedRuns::MayGoOn& may_go_on) {
  worker::WorkerProcess worker(program, true, watcher);
  for (const Message& message : messages) worker.send(message);
  Conversation said;
  for (bool is_open = true; is_open || !worker.ended();) {
    if (!may_go_on()) return std::nullopt;
    pollfd fds[] = {{is_open ? worker.read_fd() : -1, POLLIN, 0},
                    {worker.error_fd(), POLLIN, 0},
                    {worker.wants_write() ? worker.write_fd() : -1, POLLOUT, 0}};
    ::poll(fds, std::size(fds), kPatienceMs);
    worker.flush();
    worker.receive_errors();
    if (said.printed.size() < kMostPrinted) said.printed += worker.take_said();
    if (!is_open) continue;
    is_open = worker.receive();
    while (auto message = worker.next()) said.answers.push_back(std::move(*message));
  }
  said.end = worker.ended()->text;
  return said;
}

/// The same on another thread. A worker that dies while it is written to raises a signal, which the caller's
/// thread must not get.
std::optional<Conversation> talk_apart(const std::filesystem::path& program, std::span<const std::string> watcher,
                                       const std::vector<Message>& messages, const WatchedRuns::MayGoOn& may_go_on) {
  const WithoutSignals calm;
  return std::async(std::launch::async, [&] { return talk(program, watcher, messages, may_go_on); }).get();
}

template <typename T>
const T* answer_in(const Conversation& said) {
  for (const Message& message : said.answers)
    if (const T* found = std::get_if<T>(&message)) return found;
  return nullptr;
}

/// Why an answer is missing.
std::string trouble_of(const Conversation& said) {
  const auto* const failed = answer_in<worker::Failed>(said);
  return failed != nullptr ? failed->message : "its worker " + said.end;
}

}  // namespace

WatchedRuns::WatchedRuns(const KernelSpec& spec, ProblemSize size, Device device, std::uint64_t seed)
    : spec_(spec), size_(std::move(size)), device_(std::move(device)), seed_(seed), program_(find_worker_program()) {}

std::optional<CompileResult> WatchedRuns::compile(const Configuration& configuration, const MayGoOn& may_go_on) const {
  auto request = request_or_reason(spec_, size_, device_.limits, architecture_of(device_.key), configuration);
  if (const auto* invalid = std::get_if<Invalid>(&request)) return CompileError{invalid->reason, {}};
  const worker::Open open{.role = worker::Role::compile,
                          .backend = device_.key.backend,
                          .gpus = {device_.key.compute_capability},
                          .source = {},
                          .file_name = {},
                          .sources = {},
                          .size = {},
                          .measure = {}};
  const auto said = talk_apart(
      program_, {}, {open, worker::Compile{std::move(std::get<CompileRequest>(request))}, worker::Quit{}}, may_go_on);
  if (!said) return std::nullopt;
  if (const auto* answer = answer_in<worker::CompileAnswer>(*said)) return answer->result;
  return CompileError{trouble_of(*said), {}, true};
}

std::optional<WatchedRuns::Seen> WatchedRuns::launch(const Configuration& configuration, const Image& image,
                                                     std::span<const std::string> watcher,
                                                     const MayGoOn& may_go_on) const {
  MeasureOptions measure;
  measure.seed = seed_;
  measure.verify = measure.own_problems = measure.second_inputs = false;
  measure.guard_bytes = 0;  // an access beyond the end must not meet them
  measure.first_run_s = measure.hang_floor_s = kLongestLaunch;
  const worker::Open open{.role = worker::Role::run,
                          .backend = device_.key.backend,
                          .gpus = {},
                          .device = device_.index,
                          .source = spec_.program.text,
                          .file_name = spec_.program.file,
                          .sources = spec_.program.sources,
                          .size = size_,
                          .measure = std::move(measure)};
  const auto said =
      talk_apart(program_, watcher, {open, worker::LaunchOnce{configuration, image}, worker::Quit{}}, may_go_on);
  if (!said) return std::nullopt;
  const auto* const ran = answer_in<worker::Ran>(*said);
  if (ran != nullptr && !ran->trials.empty()) return Seen{ran->trials.front().outcome, said->printed};
  return Seen{LaunchError{trouble_of(*said)}, said->printed};
}

}  // namespace tuner
