#pragma once
/// Whether it is of any use to compile more configurations. Private to this room.

#include <span>

#include <tuner/core/evaluator.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Whether no configuration can compile, judged by \p trials that all failed alike. Either a file is missing that the
/// text always includes. Or the trials are many, the default is among them, and they have every value of every
/// parameter. Messages that kernels write themselves (`static_assert`, `#error`) may differ elsewhere.
bool none_compiles(const KernelSpec& spec, std::span<const Trial> trials);

}  // namespace tuner
