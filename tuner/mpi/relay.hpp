#pragma once
/// The work of the other ranks: starts workers on its host for rank 0, and carries the bytes of their pipes.

#include <filesystem>

#include <tuner/mpi/communicator.hpp>

namespace tuner::mpi {

/// Runs until rank 0 ends the job, then kills workers that still run. \p program: the worker program.
void relay(Communicator& world, const std::filesystem::path& program);

}  // namespace tuner::mpi
