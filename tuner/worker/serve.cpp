#include <tuner/worker/serve.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/pulse.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner::worker {
namespace {

/// An error that another worker would meet as well.
struct FinalError : Error {
  using Error::Error;
};

/// The session wants no result of the evaluation that runs. Thrown between its launches.
struct Recalled {};

/// Turns an Error of \p step into a FinalError.
void once_for_all(const auto& step) try { step(); } catch (const Error& error) {
  throw FinalError(error.code(), error.what());
}

class Server {
 public:
  Server(Connection& connection, const Workplace& place, const Open& open) : connection_(connection), place_(place) {
    const Warn warn = [&connection](const std::string& text) { connection.send(Warning{text}); };
    if (open.role == Role::compile) {
      connection_.work_computes();
      compiler_ = &place.compiler(open, warn);
      connection_.send(Opened{std::nullopt, compiler_->identity()});
      return;
    }
    if (place.spec == nullptr)
      once_for_all([&] { parsed_ = parse_kernel_file(open.source, open.file_name, open.sources); });
    const Device device = place.device(open, warn);
    if (traits(device.key).shares_cores) connection_.work_computes();
    connection_.send(Opened{device, {}});  // at once: opening the device takes longer
    Backend& backend = place.backend(device, warn);
    const KernelSpec& spec = place.spec != nullptr ? *place.spec : parsed_;
    // The device is open: if the buffers do not fit now, they will not fit for another worker either.
    const auto report = [this](Phase phase, double limit_s, bool runs_kernel) {
      if (evaluates_ && connection_.look_for_recall_of_running()) throw Recalled{};
      if (runner_ && connection_.look_for_hurry()) runner_->hurry();
      connection_.send(PhaseReport{phase, limit_s, runs_kernel});
    };
    once_for_all([&] { runner_ = std::make_unique<Runner>(backend, spec, open.size, open.measure, report); });
    runner_->set_stop(place.stop);
  }

  /// Answers messages until one says quit.
  void work() {
    while (true) {
      Message message = connection_.receive();
      if (std::holds_alternative<Quit>(message)) return;
      std::visit([this](const auto& each) { answer(each); }, message);
    }
  }

 private:
  void answer(const Compile& message) {
    if (compiler_ == nullptr) refuse();
    const auto start = Clock::now();
    CompileRequest request = message.request;
    request.stop = place_.stop;
    CompileResult result;
    try {
      result = compiler_->compile(request);
    } catch (const std::exception& error) {
      result = CompileError{error.what(), {}, true};
    }
    connection_.send(CompileAnswer{std::move(result), seconds_since(start)});
  }

  void answer(const Prepare& message) {
    once_for_all([&] { runner().prepare(message.image ? &*message.image : nullptr); });
    connection_.send(Prepared{runner().remarks()});
  }

  void answer(const Evaluate& message) {
    if (connection_.look_for_recall()) return report({});
    std::vector<Trial> trials;
    give_up_if_recalled(
        [&] { trials.push_back(runner().evaluate(message.configuration, message.image, message.best_ns)); });
    if (runner().left_out_checks())
      connection_.send(Warning{message.configuration.text() +
                               " was compared with the reference once: the time ended before other orders of its "
                               "threads and other inputs could be tried. A larger budget tries them"});
    report(std::move(trials));
  }

  void answer(const LaunchOnce& message) {
    std::optional<Outcome> failure = runner().launch(message.configuration, message.image);
    report({{message.configuration, failure ? std::move(*failure) : Measurement{}}});
  }

  void answer(const Remeasure& message) {
    if (message.images.size() != message.configurations.size())
      throw ProtocolError("remeasure: not one image for each");
    if (connection_.look_for_recall()) return report({});
    std::vector<Runner::Finalist> finalists;
    for (std::size_t i = 0; i < message.images.size(); ++i)
      finalists.push_back({message.configurations[i], &message.images[i],
                           std::ranges::find(message.checked, message.configurations[i]) != message.checked.end()});
    std::vector<Trial> trials;
    give_up_if_recalled([&] { trials = runner().remeasure(finalists, message.seconds, message.placement); });
    report(std::move(trials));
  }

  void give_up_if_recalled(const auto& step) {
    evaluates_ = true;
    try {
      step();
    } catch (const Recalled&) {
    }
    evaluates_ = false;
  }

  void answer(const Recall&) {}  // too late: the work has ended

  template <typename Other>
  void answer(const Other&) {
    refuse();
  }

  [[noreturn]] static void refuse() { throw ProtocolError("a message that this worker does not answer"); }

  Runner& runner() {
    if (!runner_) refuse();
    return *runner_;
  }

  void report(std::vector<Trial> trials) {
    const bool usable = runner_->usable() || !place_.is_process;
    connection_.send(Ran{std::move(trials), usable});
    if (!usable) ::_exit(EXIT_FAILURE);  // without destructors, which a lost device may make hang
  }

  Connection& connection_;
  const Workplace& place_;
  Compiler* compiler_ = nullptr;
  KernelSpec parsed_;
  std::unique_ptr<Runner> runner_;
  bool evaluates_ = false;
};

}  // namespace

Connection::Connection(int in, int out, bool owns_process) : in_(in), out_(out), owns_process_(owns_process) {
  if (!owns_process) return;
  const WithoutSignals calm;
  heart_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

Connection::~Connection() = default;

void Connection::set_working(bool working) {
  {
    const std::lock_guard lock(mutex_);
    works_ = working;
  }
  changed_.notify_all();
}

void Connection::beat(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds interval{100};
  std::unique_lock lock(mutex_);
  // wait() also returns true if a stop is requested while there is work: `quit` may follow other messages at once.
  while (changed_.wait(lock, stop, [this] { return works_; }) && !stop.stop_requested()) {
    Pulse pulse(Clock::now(), processor_seconds());
    while (!changed_.wait_for(lock, stop, interval, [this] { return !works_; }) && !stop.stop_requested()) {
      const double seconds = computes_ ? pulse.beat(Clock::now(), processor_seconds()) : pulse.beat(Clock::now());
      lock.unlock();
      try {
        write(encode(Beat{seconds}));
      } catch (const PipeClosed&) {
        return;                          // the worker's own thread learns it too
      } catch (const std::bad_alloc&) {  // this beat is lost
      }
      lock.lock();
    }
  }
}

bool serve(int in, int out, const Workplace& place) {
  Connection connection(in, out, place.is_process);
  try {
    const Message first = connection.receive();
    if (std::holds_alternative<Quit>(first)) return true;
    const auto* open = std::get_if<Open>(&first);
    if (open == nullptr) throw ProtocolError("the first message must be open");
    Server(connection, place, *open).work();
    return true;
  } catch (const PipeClosed&) {
    return true;
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const Error*>(&error);
    const bool final = dynamic_cast<const FinalError*>(&error) != nullptr;
    try {
      connection.send(Failed{error.what(), final, known != nullptr ? known->code() : ErrorCode::other});
    } catch (const PipeClosed&) {
    }
    return false;
  }
}

}  // namespace tuner::worker
