#pragma once
/// The members of an MPI job that tunes, and whether they can work together. Uses no MPI.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/session/tuning/device_choice.hpp>

namespace tuner::cli {

/// The part of one rank in a job.
struct Member {
  std::string build;  ///< of tune-mpi and tuner-worker
  std::string host;
  std::string device_key;        ///< DeviceKey::text()
  int device = 0;                ///< ordinal there
  std::string address;           ///< address_of() it
  std::string driver, compiler;  ///< as of Environment
  std::vector<int> cores;        ///< that it may run on, by their numbers
  std::size_t host_cores = 1;
  std::string error;  ///< why it cannot take part; empty: it can
};

/// Text for another process of the same build. Another build only reads that the builds differ.
std::string to_text(const Member& member);
Member member_from_text(const std::string& text);

/// The device of the rank that is number \p local_rank on its host, by --device: a GPU for each rank, or the CPU. A
/// rank that sees only one GPU takes that one. Throws Error if there is none for it, or if \p device is the number of a
/// GPU.
DeviceChoice device_of_rank(std::string_view device, int local_rank);
/// The calling process as a member. \p worker_program: on its host; empty: there is none.
Member this_member(std::string_view device, int local_rank, const std::filesystem::path& worker_program);

/// Throws Error that names the first rank that cannot work with rank 0, and why.
void check_members(const std::vector<Member>& members);
/// Compile workers for each member: its share of the cores that it may run on; at least one.
std::vector<std::size_t> compile_workers(const std::vector<Member>& members);
/// A warning if a member may only run on one of several cores, or if members measure on the same cores; else empty.
std::string binding_warning(const std::vector<Member>& members);

}  // namespace tuner::cli
