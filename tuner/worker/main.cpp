// tuner-worker: compiles or runs kernels for a tuning session, which starts it. Not for people.
//   tuner-worker IN OUT PARENT   file descriptors of two pipes, and the session's process id

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include <tuner/worker/serve.hpp>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("tuner-worker is started by tune and by the tuner library; it is of no use on its own.\n", stderr);
    return 2;
  }
  const int in = std::atoi(argv[1]);
  const int out = std::atoi(argv[2]);
  const auto parent = static_cast<pid_t>(std::atol(argv[3]));
  // A worker never outlives its session, even while it runs a kernel and reads no pipe. The parent may have died
  // before prctl() was called: then nobody would tell.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return EXIT_FAILURE;
  // The session decides what Ctrl-C means; a closed pipe is seen by write().
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // likewise a file that must not grow
  for (const int fd : {in, out})
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) return 2;  // compilers that it starts must not hold the pipes
  return tuner::worker::serve(in, out);
}
