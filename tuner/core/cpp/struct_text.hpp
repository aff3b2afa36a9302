#pragma once
/// Reads the definition of a struct in the text of a kernel, without a compiler. Private to core and to convert.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner {

struct StructText {
  std::string fields;  ///< with braces: `{ float3 position; float mass; }`
  std::size_t alignment = 1;
  std::vector<std::string> bases = {};  ///< names of its base classes
  std::string names = {};               ///< the types, aliases and constants that it defines, as a namespace would

  std::size_t begin = 0;  ///< of its definition
  UsedName inside = {};   ///< how its fields use names that it does not define; without a name
};

/// The struct or class \p used, without what takes no room in it: functions, static members, names of types, access
/// and initial values. Nothing unless \p code defines it exactly once, without virtual functions, virtual bases,
/// packing and macros. The fields may still be of any type.
std::optional<StructText> struct_called(const ScopedCode& code, const UsedName& used);

}  // namespace tuner
