#include <tuner/worker/serve.hpp>

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/worker/backends.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::worker {
namespace {

/// The session is gone or has closed the pipe.
struct PipeClosed {};

class Connection {
 public:
  Connection(int in, int out) : in_(in), out_(out) {}

  Message receive() {
    while (true) {
      if (auto message = decoder_.next()) return std::move(*message);
      std::byte bytes[65536];
      const ssize_t count = ::read(in_, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw PipeClosed{};
      decoder_.feed(std::span(bytes, static_cast<std::size_t>(count)));
    }
  }

  void send(const Message& message) {
    std::fflush(stdout);  // what a kernel printed comes before the answer
    const std::vector<std::byte> bytes = encode(message);
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::write(out_, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw PipeClosed{};
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  int in_, out_;
  Decoder decoder_;
};

class CompileWorker {
 public:
  CompileWorker(Connection& connection, const Open& open)
      : connection_(connection), compiler_(open_compiler(open.backend)) {
    if (open.warm_up) {
      // Loads what the compiler loads late. What comes of it does not matter.
      CompileRequest request;
      request.source = "template <int n> __global__ void warm_up() {}\n";
      request.file_name = "warm_up.cu";
      request.expressions = {"warm_up<1>"};
      request.architecture = "sm_90";
      (void)compiler_->compile(request);
    }
    connection.send(Opened{std::nullopt, {}, compiler_->identity()});
  }

  bool answer(const Compile& message) {
    const auto start = std::chrono::steady_clock::now();
    CompileResult result;
    try {
      result = compiler_->compile(message.request);
    } catch (const Error& error) {
      result = CompileError{error.what(), {}};
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    connection_.send(CompileAnswer{message.id, std::move(result), seconds.count()});
    return true;
  }

 private:
  Connection& connection_;
  std::unique_ptr<Compiler> compiler_;
};

class RunWorker {
 public:
  RunWorker(Connection& connection, const Open& open) : connection_(connection) {
    // A text that does not parse here is no accident that a second try could mend.
    try {
      spec_ = parse_kernel_file(open.source, open.file_name);
    } catch (const Error& error) {
      connection_.send(Failed{error.what(), true});
      throw PipeClosed{};
    }
    backend_ = open_backend(open.backend, open.device, [this](const Device& device, const std::string& architecture) {
      connection_.send(Opened{device, architecture, {}});
    });
    try {
      runner_ = std::make_unique<Runner>(*backend_, spec_, open.size, open.measure);
    } catch (const Error& error) {  // no room for its buffers: the device is open, and stays as small as it is
      connection_.send(Failed{error.what(), true});
      throw PipeClosed{};
    }
    runner_->set_phase_listener([this](Phase phase, double limit_s) { connection_.send(PhaseReport{phase, limit_s}); });
  }

  /// False when no more can be run here.
  bool answer(const Prepare& message) {
    try {
      runner_->prepare(message.image ? &*message.image : nullptr);
    } catch (const Error& error) {
      connection_.send(Failed{error.what(), true});
      throw PipeClosed{};
    }
    connection_.send(Prepared{});
    return true;
  }

  bool answer(const Evaluate& message) {
    Trial trial = runner_->evaluate(message.configuration, message.image, message.best_ns);
    const bool usable = runner_->usable();
    connection_.send(Evaluated{message.id, std::move(trial), usable});
    return usable;
  }

  bool answer(const Remeasure& message) {
    if (message.images.size() != message.configurations.size())
      throw ProtocolError("remeasure: not one image for each");
    std::vector<Runner::Finalist> finalists;
    for (std::size_t i = 0; i < message.images.size(); ++i)
      finalists.push_back({message.configurations[i], &message.images[i]});
    std::vector<Trial> trials = runner_->remeasure(finalists, message.seconds);
    const bool usable = runner_->usable();
    connection_.send(Remeasured{std::move(trials), usable});
    return usable;
  }

 private:
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

}  // namespace

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
      connection.send(Failed{error.what(), false});
    } catch (const PipeClosed&) {
    }
    return EXIT_FAILURE;
  }
}

}  // namespace tuner::worker
