#pragma once
/// Why a tuning has no result.

#include <string>

#include <tuner/error.hpp>
#include <tuner/session/tuning/tune_session.hpp>

namespace tuner {

/// The error of a tuning whose \p result has no best configuration; with the most frequent failure.
/// ErrorCode::out_of_memory if a configuration lacked memory.
Error no_winner(const KernelSpec& spec, const ProblemSize& size, const SessionResult& result);

/// Why \p spec has no valid configuration: the constraint or limit that rules out most of a sample, with an example.
std::string explain_empty_space(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

}  // namespace tuner
