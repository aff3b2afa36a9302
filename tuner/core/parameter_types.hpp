#pragma once
/// The parameter types of a compiled kernel, read from its mangled name.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/element_type.hpp>

namespace tuner {

/// The parameter types of the function, or of the function type, with this \p mangled name: `float const*`, `int`.
/// Empty if the name does not contain them (extern "C").
std::vector<std::string> parameter_types(const std::string& mangled);

bool is_pointer(std::string_view taken);
/// `float**`, `Shape* const*`.
bool is_pointer_to_pointers(std::string_view taken);

/// Whether a parameter of type \p taken accepts a number of type \p declared, or with \p pointer a pointer to such.
/// Integers of the same width are equal. Types that are not in ElementType (float4, a struct, void) accept anything.
bool may_take(std::string_view taken, ElementType declared, bool pointer);

}  // namespace tuner
