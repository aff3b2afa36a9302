#pragma once
/// The members of an MPI job that tunes: what each brings, and whether they can work together. Knows nothing of MPI.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::cli {

/// What a rank brings.
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

/// For another process of the same build; any other reads nothing but that it is another.
std::string to_text(const Member& member);
Member member_from_text(const std::string& text);

/// The device of the rank that is number \p local_rank on its host, by --device: a GPU each, or the CPU. Where it sees
/// one GPU only, that. Throws Error when there is none for it, or \p device names one by its number.
DeviceChoice device_of_rank(std::string_view device, int local_rank);
/// The calling process as a member. \p worker_program: of its host; empty where there is none.
Member this_member(std::string_view device, int local_rank, const std::filesystem::path& worker_program);

/// Throws Error that names the first rank that cannot work with rank 0, and why.
void check_members(const std::vector<Member>& members);
/// Compile workers for each member: its part of its cores, which others of its host may run on too; at least one.
std::vector<std::size_t> compile_workers(const std::vector<Member>& members);
/// What there is to say of members that may run on one core of several, or that measure on cores of others; empty where
/// there is nothing.
std::string binding_warning(const std::vector<Member>& members);

}  // namespace tuner::cli
