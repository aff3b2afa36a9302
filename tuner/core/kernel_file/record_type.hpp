#pragma once
/// Structs of numbers and pointers, and their memory layout. Private to this room and to convert.

#include <optional>

#include <tuner/core/cpp/scoped_code.hpp>
#include <tuner/core/expression/token.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner {

/// Reads the fields of a struct, with the braces: `{ float3 position; float mass; int id[2]; }`. Throws SpecError at
/// the place of a field that is not a number, a vector of CUDA's, a pointer, or an array of these.
RecordType read_record(TokenCursor& cursor);

/// The struct_called() \p used, if its fields are those of read_record(), with types that \p code may define, or other
/// such structs.
std::optional<RecordType> struct_by_value(const ScopedCode& code, const UsedName& used);
/// The same for the elements of a buffer, which hold no pointers.
std::optional<RecordType> record_called(const ScopedCode& code, const UsedName& used);

/// The numbers `x y z w` of a vector of CUDA's.
RecordType vector_record(const VectorType& type);

/// Whether a fill is random.
bool is_random(const std::optional<FillSpec>& fill);
/// Whether a fill is known to give only 0 and 1, the values of a bool.
bool fits_bool(const std::optional<FillSpec>& fill);

/// Sets the size of the elements of \p buffer, which are records. Call this when all fills are known. If all fields
/// have one type, the same fill and no padding, they become plain numbers, which are filled and compared in place.
void settle_record(BufferSpec& buffer);

}  // namespace tuner
