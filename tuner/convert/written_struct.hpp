#pragma once
/// A struct as kernel files write it. Private to this room.

#include <string>

#include <tuner/core/kernel_file/record_type.hpp>

namespace tuner::convert {

/// The name of a field as one identifier: `orbit_0_x` of `orbit[0].x`.
std::string field_name(std::string name);

/// `{ int n; float scale; }`, with the fields of inner structs in their places. Empty if no such text has the same
/// memory layout, as for a struct with its own alignment.
std::string struct_text(const RecordType& record);

}  // namespace tuner::convert
