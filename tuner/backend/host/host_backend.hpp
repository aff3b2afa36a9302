#pragma once
/// The backend that every machine has. It compiles kernel files with the system's C++ compiler against a small header
/// that gives CUDA C++ its meaning. It runs thread blocks as fibers on the CPU's cores. README.md here has the details.

#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/host/compile/host_options.hpp>

namespace tuner {

/// Does not fail if there is no compiler: then each compile is a CompileError that names the compilers that were tried.
/// Throws Error when threads or stacks cannot be made. While the backend lives, signal handlers turn faults in kernels
/// (SIGSEGV, SIGFPE, …) into a LaunchError.
std::unique_ptr<Backend> make_host_backend(const HostOptions& options = {});

/// The device of such a backend. Starts no threads; asks the compiler for its version.
Device host_device(const HostOptions& options = {});

}  // namespace tuner
