#pragma once
/// What a compiled kernel takes, read from its mangled name or type.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/element_type.hpp>

namespace tuner {

/// The types of the parameters of the function with this \p mangled name, or of the function type `typeid` names so:
/// `float const*`, `int`. Empty where it does not say (extern "C").
std::vector<std::string> parameter_types(const std::string& mangled);

/// Whether a parameter of type \p taken may be given a pointer to \p declared (\p pointer) or a number of that type.
/// Integers of one width are alike; types that are none of ElementType's (float4, a struct, void) take anything.
bool may_take(std::string_view taken, ElementType declared, bool pointer);

}  // namespace tuner
