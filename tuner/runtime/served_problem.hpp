#pragma once
/// A problem of a kernel that is asked about apart from any call, as explain(), run() and tune() do, and the device
/// that calls of this thread without pointers go to, its context current as long as this lives.

#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/served_kernel.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {

struct ServedProblem {
  /// Throws Error for wrong sizes or choices, and what Serving, CallContext and ServedDevice throw.
  ServedProblem(const ServedKernel& kernel, const Sizes& sizes, const Choices& choices)
      : size(problem_of(*kernel.spec, sizes, kernel.completed(choices))) {}

  const Serving::Terms terms = Serving::process().terms();
  const ProblemSize size;
  const CallContext context{nullptr, terms.serving.ordinal()};
  const BesideCaptures allowed{context.name()};
  ServedDevice& device = ServedDevice::of(context.name());
};

}  // namespace tuner::runtime
