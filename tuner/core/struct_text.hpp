#pragma once
/// Finds structs in the text of a kernel, without a compiler. All functions take the code_of() a text. Private to this
/// room.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tuner {

/// How often \p code defines a type \p name, as far as it shows.
std::size_t type_definitions(std::string_view code, std::string_view name);

struct StructText {
  std::string fields;  ///< with braces: `{ float3 position; float mass; }`
  std::size_t alignment = 1;
};

/// The struct or class \p name, without what takes no room in it: functions, static members, names of types, access and
/// initial values. Nothing unless \p code defines it exactly once, without base classes, virtual functions, packing and
/// macros. The fields may still be of any type.
std::optional<StructText> struct_called(std::string_view code, std::string_view name);

}  // namespace tuner
