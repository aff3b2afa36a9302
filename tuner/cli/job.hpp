#pragma once
/// The members of an MPI job that tunes: what each brings, and whether they can work together. Knows nothing of MPI.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/session/backends.hpp>

namespace tuner::cli {

/// What a rank brings.
struct Member {
  std::string build;  ///< of tune-mpi and tuner-worker
  std::string host;
  std::string device_key;  ///< DeviceKey::text()
  int device = 0;          ///< ordinal there
  std::size_t compile_workers = 1;
  std::string error;  ///< why it cannot take part; empty: it can
};

/// For another process of the same build; any other reads nothing but that it is another.
std::string to_text(const Member& member);
Member member_from_text(const std::string& text);

/// The device of the rank that is number \p local_rank on its host, by --device: a GPU each, or the CPU. Throws Error
/// when there is none for it, or \p device names one by its number.
DeviceChoice device_of_rank(std::string_view device, int local_rank);
/// The calling process as a member. \p local_size: ranks that share its host's cores.
Member this_member(std::string_view device, int local_rank, int local_size);

/// Throws Error that names the first rank that cannot work with rank 0, and why.
void check_members(const std::vector<Member>& members);

}  // namespace tuner::cli
