#pragma once
/// A problem without a call, for explain(), run() and tune(), and the device for calls of this thread without pointers.
/// Its context is current while this object lives.

#include <tuner/runtime/bind.hpp>
#include <tuner/runtime/served_kernel.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {

struct ServedProblem {
  /// Throws Error for wrong sizes or choices, and whatever Serving, CallContext and ServedDevice throw.
  ServedProblem(const ServedKernel& kernel, const Sizes& sizes, const Choices& choices)
      : size(problem_of(*kernel.spec, sizes, kernel.completed(choices))) {}

  const Serving::Terms terms = Serving::process().terms();
  const ProblemSize size;
  const CallContext context{nullptr, terms.serving.ordinal()};
  const BesideCaptures allowed{context.name()};
  ServedDevice& device = ServedDevice::of(context.name());
};

}  // namespace tuner::runtime
