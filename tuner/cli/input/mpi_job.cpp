#include <tuner/cli/input/mpi_job.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <cache/records/json.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/error.hpp>
#include <tuner/version.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::cli {

namespace {

void visit_fields(auto& member, const auto& visit) {
  visit("build", member.build), visit("host", member.host), visit("device_key", member.device_key);
  visit("device", member.device), visit("address", member.address), visit("driver", member.driver);
  visit("compiler", member.compiler), visit("cores", member.cores), visit("host_cores", member.host_cores);
  visit("error", member.error);
}

constexpr std::int64_t kMaxProgramBytes = std::int64_t{1} << 30;

/// Identifies the two programs that exchange the job's messages. The hash is not cryptographic: it only finds mistakes,
/// and all ranks wait for it.
std::string build_of(const std::filesystem::path& worker_program) {
  const auto hash = [](const std::filesystem::path& file) {
    return fmt::format("{:016x}", std::hash<std::string>{}(read_input_file(file, kMaxProgramBytes, "program")));
  };
  return fmt::format("{} protocol {} {} {}", kVersion, worker::kProtocolVersion, hash("/proc/self/exe"),
                     hash(worker_program));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

/// The cores that this process may run on. mpirun and srun bind ranks to some of the host's cores.
std::vector<int> own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

bool share_cores(const Member& a, const Member& b) {
  return a.host == b.host && std::any_of(a.cores.begin(), a.cores.end(), [&](int core) {
           return std::find(b.cores.begin(), b.cores.end(), core) != b.cores.end();
         });
}

std::string name_of(const std::vector<Member>& members, std::size_t rank) {
  const std::string& host = members[rank].host;
  return fmt::format("rank {} on {}", rank, host.empty() ? "an unknown host" : host);
}

}  // namespace

std::string to_text(const Member& member) {
  Json all;
  visit_fields(member, [&all](const char* name, const auto& value) { all[name] = value; });
  return text_of_json(all);
}

Member member_from_text(const std::string& text) try {
  const Json all = json_of_text(text);
  Member member;
  visit_fields(member, [&all](const char* name, auto& value) { all.at(name).get_to(value); });
  return member;
} catch (const Json::exception&) {
  Member other;
  other.build = "unknown";
  return other;
}

DeviceChoice device_of_rank(std::string_view device, int local_rank) {
  if (device == kHostBackend) return choose_device(device);
  if (device != "auto" && device != kCudaBackend && device != "all")
    throw Error(fmt::format("each rank of a job has its own device: --device is auto, cuda or host, not '{}'", device));
  if (!why_no_gpu().empty()) return choose_device(device == "all" ? kCudaBackend : device);
  if (gpu_count() == 1) return choose_device("0");  // the scheduler may have given each rank one to see
  if (local_rank >= gpu_count())
    throw Error(
        fmt::format("this host has {} GPUs and more ranks than that: start one rank for each GPU", gpu_count()));
  return choose_device(std::to_string(local_rank));
}

Member this_member(std::string_view device, int local_rank, const std::filesystem::path& worker_program) {
  Member member;
  member.host = host_name();
  member.cores = own_cores();
  member.host_cores = static_cast<std::size_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  try {
    member.build = build_of(worker_program.empty() ? find_worker_program() : worker_program);
    const Device chosen = device_of_rank(device, local_rank).device;
    member.device_key = chosen.key.text();
    member.device = chosen.index;
    member.address = address_of(chosen);
    member.driver = chosen.environment.driver;
    member.compiler = chosen.environment.compiler;
  } catch (const Error& error) {
    member.error = error.what();
  }
  return member;
}

void check_members(const std::vector<Member>& members) {
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& first = members.front();
    const Member& one = members[rank];
    const std::string who = name_of(members, rank);
    if (!one.error.empty()) throw Error(fmt::format("{}: {}", who, one.error));
    if (one.build != first.build)
      throw Error(
          fmt::format("{} runs another build of tune-mpi or tuner-worker than rank 0 on {} ({}; {}): install the "
                      "same one on all hosts",
                      who, first.host, one.build, first.build));
    if (one.device_key != first.device_key)
      throw Error(
          fmt::format("{} has another kind of device than rank 0 on {}: {}. A session is for one kind: give each "
                      "its own job",
                      who, first.host, key_difference(one.device_key, first.device_key)));
    for (const auto& [what, its, theirs] :
         {std::tuple{"driver", one.driver, first.driver}, std::tuple{"compiler", one.compiler, first.compiler}})
      if (its != theirs)
        throw Error(
            fmt::format("{} has another {} than rank 0 on {} ({}; {}): its results would be stored as those of "
                        "the other. Install the same one, or give each its own job",
                        who, what, first.host, its, theirs));
    for (std::size_t other = 0; other < rank; ++other)
      if (!one.address.empty() && one.host == members[other].host && one.address == members[other].address)
        throw Error(fmt::format("{} has the GPU of rank {} ({}): start one rank for each GPU of a host", who, other,
                                one.address));
  }
}

std::vector<std::size_t> compile_workers(const std::vector<Member>& members) {
  std::map<std::pair<std::string, int>, int> ranks_of;  // by host and core
  for (const Member& one : members)
    for (const int core : one.cores) ++ranks_of[{one.host, core}];
  std::vector<std::size_t> workers;
  for (const Member& one : members) {
    double part = 0;
    for (const int core : one.cores) part += 1.0 / ranks_of[{one.host, core}];
    workers.push_back(std::max(static_cast<std::size_t>(part + 1e-6), std::size_t{1}));
  }
  return workers;
}

std::string binding_warning(const std::vector<Member>& members) {
  for (std::size_t rank = 1; rank < members.size(); ++rank)
    for (std::size_t other = 0; other < rank; ++other)
      if (members[rank].device_key.starts_with(kHostBackend) && share_cores(members[rank], members[other]))
        return fmt::format(
            "{} and rank {} measure on the same cores, where each disturbs the other: start one rank for each host",
            name_of(members, rank), other);
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    if (members[rank].cores.size() == 1 && members[rank].host_cores > members.size())
      return fmt::format(
          "{} is bound to one of {} cores, which its compilers and its device's worker share: start the "
          "job with mpirun --bind-to none, or srun --cpus-per-task",
          name_of(members, rank), members[rank].host_cores);
  return {};
}

}  // namespace tuner::cli
