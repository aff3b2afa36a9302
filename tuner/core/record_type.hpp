#pragma once
/// Structs of numbers as C++ writes them, and where its compilers put each number. Private to this room.

#include <optional>
#include <string>
#include <string_view>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/token.hpp>

namespace tuner {

/// Reads what stands between the braces of a struct, and both: `{ float3 position; float mass; int id[2]; }`. Throws
/// SpecError at the place of what is no number, vector of CUDA's, or array of these.
RecordType read_record(TokenCursor& cursor);

/// The struct that \p text defines as \p name; nothing where it does not, or not once, or not plainly: packed, derived,
/// behind a macro, or with something else than read_record() knows.
std::optional<RecordType> record_called(std::string_view text, std::string_view name);

/// Whether a fill draws at random.
bool is_drawn(const FieldFill& fill);
/// Whether it gives a bool 0 or 1 alone, as far as that can be told.
bool fits_bool(const FieldFill& fill);

/// For a buffer whose elements are records, once all of its fills are known: says how many bytes they are. Fields of
/// one type without padding, which are filled alike, are made plain numbers: these are filled and compared where they
/// lie.
void settle_record(BufferSpec& buffer);

}  // namespace tuner
