// tuner-worker: compiles or runs kernels for a tuning session, which starts it. Not for people.
//   tuner-worker IN OUT PARENT   file descriptors of two pipes, and the session's process id

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tuner/backend/all/backends.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/worker/connection.hpp>

namespace tuner::worker {
namespace {

/// A compiler in this process frees its memory after each program and needs as much for the next one. The process
/// therefore keeps it.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int mebibyte = 1 << 20;
  ::mallopt(M_TRIM_THRESHOLD, 256 * mebibyte);
  ::mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);  // the largest value that mallopt() accepts
  ::mallopt(M_TOP_PAD, 16 * mebibyte);
#endif
}

class CompileWorker {
 public:
  CompileWorker(Connection& connection, const Open& open)
      : connection_(connection), compiler_(open_compiler(open.backend)) {
    keep_freed_memory();
    connection.send(Opened{std::nullopt, compiler_->identity()});
  }

  bool answer(const Compile& message) {
    const auto start = Clock::now();
    CompileResult result;
    try {
      result = compiler_->compile(message.request);
    } catch (const std::exception& error) {
      result = CompileError{error.what(), {}, true};
    }
    connection_.send(CompileAnswer{std::move(result), seconds_since(start)});
    return true;
  }

 private:
  Connection& connection_;
  std::unique_ptr<Compiler> compiler_;
};

/// An error that another worker would meet as well.
struct FinalError : Error {
  using Error::Error;
};

/// Turns an Error of \p step into a FinalError.
template <typename Step>
void once_for_all(Step step) try {
  step();
} catch (const Error& error) {
  throw FinalError(error.what());
}

class RunWorker {
 public:
  RunWorker(Connection& connection, const Open& open) : connection_(connection) {
    once_for_all([&] { spec_ = parse_kernel_file(open.source, open.file_name, open.sources); });
    const Device device = find_device(open.backend, open.device);
    connection_.send(Opened{device, {}});  // at once: opening the device takes longer
    backend_ = open_backend(device, OwnKernels::of_trials);
    // The device is open: if the buffers do not fit now, they will not fit for another worker either.
    once_for_all([&] { runner_ = std::make_unique<Runner>(*backend_, spec_, open.size, open.measure); });
    runner_->set_phase_listener([this](Phase phase, double limit_s) { connection_.send(PhaseReport{phase, limit_s}); });
  }

  /// False when no more can be run here.
  bool answer(const Prepare& message) {
    once_for_all([&] { runner_->prepare(message.image ? &*message.image : nullptr); });
    connection_.send(Prepared{});
    return true;
  }

  bool answer(const Evaluate& message) {
    if (connection_.recalled()) return tell({});
    return tell({runner_->evaluate(message.configuration, message.image, message.best_ns)});
  }

  bool answer(const Remeasure& message) {
    if (message.images.size() != message.configurations.size())
      throw ProtocolError("remeasure: not one image for each");
    std::vector<Runner::Finalist> finalists;
    for (std::size_t i = 0; i < message.images.size(); ++i)
      finalists.push_back({message.configurations[i], &message.images[i]});
    return tell(runner_->remeasure(finalists, message.seconds));
  }

  bool answer(const Recall&) { return true; }  // too late: the work has begun

 private:
  bool tell(std::vector<Trial> trials) {
    const bool usable = runner_->usable();
    connection_.send(Ran{std::move(trials), usable});
    return usable;
  }

  Connection& connection_;
  KernelSpec spec_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Runner> runner_;
};

/// Ends the process without running destructors: a lost device may make them hang.
[[noreturn]] void leave(int status) { ::_exit(status); }

/// Gives each message to \p worker, until the session wants no more or \p worker cannot.
template <typename Worker>
int work(Worker worker, Connection& connection) {
  while (true) {
    Message message = connection.receive();
    if (std::holds_alternative<Quit>(message)) return EXIT_SUCCESS;
    const bool usable = std::visit(
        [&](auto& each) -> bool {
          if constexpr (requires { worker.answer(each); })
            return worker.answer(each);
          else
            throw ProtocolError("a message that this worker does not answer");
        },
        message);
    if (!usable) leave(EXIT_FAILURE);
  }
}

/// Answers the messages from \p in until one says quit, the pipe ends, or the device is lost. Returns the process's
/// exit status.
int serve(int in, int out) {
  Connection connection(in, out);
  try {
    const Message first = connection.receive();
    if (std::holds_alternative<Quit>(first)) return EXIT_SUCCESS;
    const auto* open = std::get_if<Open>(&first);
    if (open == nullptr) throw ProtocolError("the first message must be open");
    if (open->role == Role::compile) return work(CompileWorker(connection, *open), connection);
    return work(RunWorker(connection, *open), connection);
  } catch (const PipeClosed&) {
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    try {
      connection.send(Failed{error.what(), dynamic_cast<const FinalError*>(&error) != nullptr});
    } catch (const PipeClosed&) {
    }
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace tuner::worker

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("tuner-worker is started by tune and by the tuner library; it is of no use on its own.\n", stderr);
    return 2;
  }
  const int in = std::atoi(argv[1]);
  const int out = std::atoi(argv[2]);
  const auto parent = static_cast<pid_t>(std::atol(argv[3]));
  // A worker never outlives its session, even while it runs a kernel and reads no pipe. If the parent died before
  // prctl() was called, no signal comes.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return EXIT_FAILURE;
  // The session decides what Ctrl-C means; a closed pipe is seen by write().
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that must not grow is seen by write() too
  for (const int fd : {in, out})
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return 2;  // compilers that this process starts must not hold the pipes
  return tuner::worker::serve(in, out);
}
