// The `tune-mpi` program: `tune` on all ranks of an MPI job. Rank 0 owns search, database and report; the others lend
// it their host's compile workers and one device each.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/commands/program.hpp>
#include <tuner/cli/commands/tune_command.hpp>
#include <tuner/cli/input/mpi_job.hpp>
#include <tuner/mpi/communicator.hpp>
#include <tuner/mpi/remote_workers.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

/// --device of a tuning. Empty for other commands, which rank 0 runs alone, and for errors, which program() reports.
std::string shared_device(int argc, char** argv) try {
  const std::optional<Texts> words = words_of_tuning({argv + std::min(argc, 1), argv + argc});
  if (!words) return {};
  const TuneArguments request = read_tune_arguments(*words);
  if (request.help || request.dry_run) return {};
  return request.device;
} catch (const std::exception&) {
  return {};
}

void join(TuneArguments& request, const std::vector<std::string>& texts, mpi::Hub& hub) {
  std::vector<Member> members;
  for (const std::string& text : texts) members.push_back(member_from_text(text));
  check_members(members);
  if (request.tuning.isolation != Isolation::process)
    throw Error("a job's ranks run kernels in worker processes: leave out --isolation none");
  const bool gpu = members.front().device_key.starts_with(kCudaBackend);
  request.device = gpu ? std::to_string(members.front().device) : std::string(kHostBackend);
  const std::vector<std::size_t> compilers = compile_workers(members);
  request.tuning.compile_workers = compilers.front();
  if (const std::string warning = binding_warning(members); !warning.empty())
    std::fprintf(stderr, "tune-mpi: %s\n", printable_lines(warning).c_str());
  for (std::size_t i = 1; i < members.size(); ++i) {
    const int rank = static_cast<int>(i);
    request.tuning.hosts.push_back(
        {fmt::format("rank {} ({})", rank, members[i].host), {members[i].device}, compilers[i], [&hub, rank] {
           return hub.start(rank);
         }});
  }
}

/// Runs \p work. If it throws, the other ranks would wait for ever, so the job ends. All measurements are stored by
/// then.
template <typename Work>
void or_end_job(mpi::Communicator& world, Work work) try {
  work();
} catch (const std::exception& error) {
  std::fprintf(stderr, "tune-mpi: rank %d: %s\n", world.rank(), printable_lines(error.what()).c_str());
  world.abort();
}

std::filesystem::path worker_program() try { return find_worker_program(); } catch (const WorkerError&) {
  return {};  // this_member() says so
}

/// mpirun gives rank 0 a terminal as stdout, even if its own output goes into a file.
void leave_out_colours_unless_launcher_has_terminal() {
  std::error_code ignored;
  const std::string out = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", ::getppid()), ignored).string();
  if (!out.starts_with("/dev/pts/") && !out.starts_with("/dev/tty")) ::setenv("NO_COLOR", "1", 0);
}

int run(mpi::Communicator& world, int argc, char** argv) {
  const bool first = world.rank() == 0;
  const std::string device = world.broadcast(first ? shared_device(argc, argv) : "");
  if (device.empty()) return first ? tune_main(argc, argv) : 0;
  const std::filesystem::path worker = worker_program();
  const std::vector<std::string> members = world.gather(to_text(this_member(device, world.local_rank(), worker)));
  raise_descriptor_limit();
  std::signal(SIGPIPE, SIG_IGN);  // a write to a closed pipe returns an error instead
  if (!first) {
    // Ctrl-C reaches all ranks: the first one ends the job, after what runs.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
    or_end_job(world, [&] { mpi::relay(world, worker); });
    return 0;
  }
  mpi::Hub hub(world);
  int code = 0;
  // MPI stays on the thread that began it.
  std::thread tuning([&] {
    code = program(argc, argv, [&](const Texts& words) {
      return tune_command(words, [&](TuneArguments& request) { join(request, members, hub); });
    });
    hub.finish();
  });
  or_end_job(world, [&] { hub.run(); });
  tuning.join();
  return code;
}

}  // namespace
}  // namespace tuner::cli

int main(int argc, char** argv) {
  tuner::cli::leave_out_colours_unless_launcher_has_terminal();
  tuner::mpi::Communicator world(argc, argv);
  return tuner::cli::run(world, argc, argv);
}
