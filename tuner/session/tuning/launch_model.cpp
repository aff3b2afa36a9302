#include <tuner/session/tuning/launch_model.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner {
namespace {

// Of data center GPUs since Volta, roughly. Half or twice of any of these changes the order of few configurations.
// Cycles, bytes and threads are those of one multiprocessor.
constexpr double kBytesPerCycle = 16;
constexpr double kHalfInFlight = 4800;  // so many bytes in flight make memory half as fast as it can be
constexpr double kMostInFlight = 128;   // bytes of a thread, if the file does not say them

constexpr double kHalfThreads = 128;  // so many make arithmetic half as fast as it can be
constexpr double kOperands = 8;       // cost of the operands of an operation, if none of them is used again

constexpr double kThreadCycles = 0.2;  // for each thread: some 25 instructions
constexpr double kLaunchCycles = 1000;
constexpr double kSpill = 1.0 / 64;  // of the time, for each byte that a thread spills
constexpr int kUnknownRegisters = 32;
constexpr int kUnknownLanes = 128;

/// The part of its time that a block does not use memory, because it begins, ends or waits at a barrier. Other blocks
/// use memory meanwhile, if the multiprocessor holds some.
constexpr double kIdleOfBlock = 0.1;
/// The same of threads that all begin and end together, because the device holds all of them at once. They load, then
/// compute, then store.
constexpr double kIdleOfWave = 0.2;

bool holds(const std::optional<Expression>& condition, const Bindings& values, bool otherwise) {
  return condition ? condition->evaluate_boolean(values) : otherwise;
}

}  // namespace

LaunchModel::LaunchModel(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits)
    : spec_(spec), limits_(limits) {
  if (limits.compute_capability == 0 || spec.device_launches) return;
  try {
    const Bindings values = bindings(spec, size, limits);
    double buffer_bytes = 0;
    for (const BufferSpec& buffer : spec.buffers) {
      if (buffer.is_work_space()) continue;
      const auto count = static_cast<double>(buffer.count.evaluate_integer(values));
      const double passes = buffer.role == BufferRole::inout ? 2 : 1;
      buffer_bytes += passes * count * static_cast<double>(info(resolved_type(spec, size, buffer.type)).bytes);
      if (buffer.is_output()) outputs_ += count;
    }
    const auto amount = [&](const std::optional<Expression>& given, double otherwise) {
      return given ? static_cast<double>(evaluate_amount(spec, *given, size, limits)) : otherwise;
    };
    bytes_ = amount(spec.work.bytes, buffer_bytes);
    flops_ = amount(spec.work.flops, 0);
    const double least = bytes_ / kBytesPerCycle + flops_ / (2 * kUnknownLanes);
    applies_ = least > kLaunchCycles * std::max(1, limits.sm_count);
  } catch (const EvaluationError&) {  // an amount has no value at this size
  }
}

std::optional<double> LaunchModel::cycles(const Bindings& values, const Resources* compiled) const {
  std::optional<LaunchShape> largest;  // does the work
  double launches = 0;
  const auto threads_of = [](const LaunchShape& shape) {
    return static_cast<double>(shape.blocks()) * static_cast<double>(shape.threads_per_block());
  };
  for (const LaunchSpec& launch : spec_.launches) {
    if (!holds(launch.when, values, true) || holds(launch.untimed, values, false)) continue;
    const LaunchShape shape = shape_of(launch, values);
    ++launches;
    if (!largest || threads_of(shape) > threads_of(*largest)) largest = shape;
  }
  if (!largest || threads_of(*largest) <= 0) return std::nullopt;

  const std::int64_t block = largest->threads_per_block();
  const int registers = compiled && compiled->registers > 0 ? compiled->registers : kUnknownRegisters;
  const std::int64_t shared = largest->shared_bytes + (compiled ? compiled->static_shared_bytes : 0);
  const double resident = std::max(1, occupancy(limits_, block, registers, shared).blocks_per_sm);
  const double multiprocessors = std::max(1, limits_.sm_count);
  const double blocks = static_cast<double>(largest->blocks()) / multiprocessors;  // of one multiprocessor
  const double threads = static_cast<double>(block) * blocks;
  const double at_once = static_cast<double>(block) * std::min(resident, blocks);

  const double bytes = bytes_ / multiprocessors, thread_bytes = bytes / threads;
  const std::optional<Expression>& said = spec_.work.in_flight;
  const double ahead = said ? std::max<double>(1, static_cast<double>(said->evaluate_integer(values)))
                            : std::clamp(thread_bytes, 1.0, kMostInFlight);
  const bool loops = said && ahead < thread_bytes;  // a thread loads all the time
  const double few_in_flight = 1 + kHalfInFlight / (at_once * ahead);
  const double few_waves = 1 + (loops ? 0 : kIdleOfWave * limits_.max_threads_per_sm / threads);
  const double few_blocks = 1 + kIdleOfBlock / std::min(resident, blocks);
  const double memory = bytes / kBytesPerCycle * few_in_flight * few_waves * few_blocks;

  const double lanes = limits_.fp32_lanes_per_sm > 0 ? limits_.fp32_lanes_per_sm : kUnknownLanes;
  const double outputs = std::max(1.0, outputs_ / multiprocessors / threads);  // of one thread
  const double operands = 1 + kOperands / std::sqrt(outputs);
  const double few_threads = 1 + kHalfThreads / at_once;
  const double uneven = std::ceil(blocks) / blocks;
  const double arithmetic = flops_ / multiprocessors / (2 * lanes) * operands * few_threads * uneven;

  const double overhead = threads * kThreadCycles + launches * kLaunchCycles;
  const double spills = 1 + kSpill * (compiled ? compiled->spill_bytes : 0);
  return (std::hypot(memory, arithmetic) + overhead) * spills;
}

}  // namespace tuner
