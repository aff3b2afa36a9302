#pragma once
/// The other ranks' work: starts workers on its host for rank 0 and carries their pipes' bytes.

#include <filesystem>

#include <tuner/mpi/communicator.hpp>

namespace tuner::mpi {

/// Until rank 0 says that the job is done. Workers still running then are killed. \p program: of a worker.
void relay(Communicator& world, const std::filesystem::path& program);

}  // namespace tuner::mpi
