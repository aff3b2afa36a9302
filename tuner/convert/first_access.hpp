#pragma once
/// Whether a kernel reads or writes the elements of a pointer. Private to this room.

#include <string_view>

namespace tuner::convert {

enum class PointerPlace { argument, member };  ///< `x`, or `x` of `fields.x`
enum class Access { reads, writes, both };
/// How \p body, in braces, uses the elements of \p pointer. `both` unless each use shows which: `p[i]`, `*p`, and
/// assignments to these. \p code is the whole text, whose functions and macros may change what they get.
Access access_of(std::string_view code, std::string_view body, std::string_view pointer, PointerPlace place);

}  // namespace tuner::convert
