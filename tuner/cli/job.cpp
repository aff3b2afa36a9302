#include <tuner/cli/job.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/sha256.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/version.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/protocol.hpp>

namespace tuner::cli {
namespace {

constexpr std::int64_t kMaxProgramBytes = std::int64_t{1} << 30;

/// Of the two programs that talk to each other over the job's messages.
std::string build_of(const std::filesystem::path& worker_program) {
  const auto hash = [](const std::filesystem::path& file) {
    return cache::sha256_hex(read_input_file(file, kMaxProgramBytes, "program")).substr(0, 16);
  };
  return fmt::format("{} protocol {} {} {}", kVersion, worker::kProtocolVersion, hash("/proc/self/exe"),
                     hash(worker_program));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

}  // namespace

std::string to_text(const Member& member) {
  return nlohmann::json{{"build", member.build},
                        {"host", member.host},
                        {"device_key", member.device_key},
                        {"device", member.device},
                        {"compile_workers", member.compile_workers},
                        {"error", member.error}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Member member_from_text(const std::string& text) try {
  const auto json = nlohmann::json::parse(text);
  Member member;
  json.at("build").get_to(member.build);
  json.at("host").get_to(member.host);
  json.at("device_key").get_to(member.device_key);
  json.at("device").get_to(member.device);
  json.at("compile_workers").get_to(member.compile_workers);
  json.at("error").get_to(member.error);
  return member;
} catch (const nlohmann::json::exception&) {
  Member other;
  other.build = "unknown";
  return other;
}

DeviceChoice device_of_rank(std::string_view device, int local_rank) {
  if (device == kHostBackend) return choose_device(device);
  if (device != "auto" && device != kCudaBackend && device != "all")
    throw Error(
        fmt::format("each rank of a job has a device of its own: --device is auto, cuda or host, not '{}'", device));
  if (!why_no_gpu().empty()) return choose_device(device == "all" ? kCudaBackend : device);
  if (local_rank >= gpu_count())
    throw Error(fmt::format("this host has {} and more ranks than that: start one rank for each GPU",
                            gpu_count() == 1 ? "one GPU" : fmt::format("{} GPUs", gpu_count())));
  return choose_device(std::to_string(local_rank));
}

Member this_member(std::string_view device, int local_rank, int local_size) {
  Member member;
  member.host = host_name();
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  member.compile_workers = std::max(cores / static_cast<unsigned>(std::max(local_size, 1)), 1u);
  try {
    member.build = build_of(find_worker_program());
    const DeviceChoice choice = device_of_rank(device, local_rank);
    member.device_key = choice.device.key.text();
    member.device = choice.device.index;
  } catch (const Error& error) {
    member.error = error.what();
  }
  return member;
}

void check_members(const std::vector<Member>& members) {
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& first = members.front();
    const Member& one = members[rank];
    const std::string who = fmt::format("rank {} on {}", rank, one.host.empty() ? "an unknown host" : one.host);
    if (!one.error.empty()) throw Error(fmt::format("{}: {}", who, one.error));
    if (one.build != first.build)
      throw Error(
          fmt::format("{} runs another build of tune-mpi or tuner-worker than rank 0 on {} ({}; {}): install the "
                      "same one on all hosts",
                      who, first.host, one.build, first.build));
    if (one.device_key != first.device_key)
      throw Error(
          fmt::format("{} has another kind of device than rank 0 on {}: {}. A session is for one kind: give each "
                      "a job of its own",
                      who, first.host, difference(one.device_key, first.device_key)));
  }
}

}  // namespace tuner::cli
