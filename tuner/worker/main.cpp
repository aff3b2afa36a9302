// tuner-worker: compiles or runs kernels for a tuning session, which starts it. Not for people.
//   tuner-worker IN OUT PARENT   file descriptors of two pipes or of one socket, and the session's process id; 0: a
//                                program that watches this one has started it

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <tuner/backend/all/backends.hpp>
#include <tuner/worker/serve.hpp>

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

/// The last words of this process. A handler writes them: it may not make them.
struct Farewell {
  int signal = 0;
  std::vector<std::byte> words;
};
std::vector<Farewell> farewells;
int said_to = -1;  // -1: nothing more is said

void say_farewell(int signal) {
  for (const Farewell& one : farewells)
    if (one.signal == signal && said_to >= 0) (void)!::write(said_to, one.words.data(), one.words.size());
}

/// Tells the session by which signal, or that by exit(), this process ends. The session's program may ignore or take
/// the ends of its children, and is then told nothing by the system.
void say_farewell_at_end(int out) {
  said_to = out;
  farewells.push_back({0, encode(LastWords{0})});
  std::atexit([] { say_farewell(0); });
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;  // a sanitizer's
    farewells.push_back({signal, encode(LastWords{signal})});
    struct sigaction action {};
    action.sa_handler = [](int received) {
      say_farewell(received);
      std::raise(received);  // by default now
    };
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_NODEFER | SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

/// Answers the messages from \p in. Returns the process's exit status.
int work(int in, int out) {
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Backend> backend;
  Workplace place;
  place.compiler = [&](const Open& open, const Warn& warn) -> Compiler& {
    keep_freed_memory();
    compiler = open_compiler(open.backend, open.gpus, warn, /*is_alone=*/true);
    return *compiler;
  };
  place.device = [](const Open& open, const Warn& warn) { return find_device(open.backend, open.device, true, warn); };
  place.backend = [&](const Device& device, const Warn& warn) -> Backend& {
    backend = open_backend(device, PreloadedKernels::trials, warn);
    return *backend;
  };
  say_farewell_at_end(out);
  const bool is_success = serve(in, out, place);
  said_to = -1;
  return is_success ? EXIT_SUCCESS : EXIT_FAILURE;
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
  // prctl() was called, no signal comes. The thread that starts a watched worker may end first, so it gets no signal.
  if (parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) return EXIT_FAILURE;
  }
  // The session decides what Ctrl-C means; a closed pipe is seen by write().
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that must not grow is seen by write() too
  for (const int fd : {in, out})
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return 2;  // compilers that this process starts must not hold the pipes
  return tuner::worker::work(in, out);
}
