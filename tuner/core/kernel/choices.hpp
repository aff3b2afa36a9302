#pragma once
/// The sizes and choices of a problem, as a kernel allows them.

#include <string_view>

#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

/// \p size with every missing choice and size at its default. Throws Error for an unknown name (with a suggestion), for
/// a value that is not allowed, and for a missing size without a default.
ProblemSize complete(const KernelSpec& spec, ProblemSize size);

/// The element type of a buffer or scalar, for the choices of \p size. Throws Error if \p type does not name one.
ElementType resolved_type(const KernelSpec& spec, const ProblemSize& size, std::string_view type);

}  // namespace tuner
