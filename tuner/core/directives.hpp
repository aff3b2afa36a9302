#pragma once
/// Finds the `#pragma tuner` lines of a kernel file, outside of comments and literals. Private to this room.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/token.hpp>

namespace tuner {

/// \p text without the byte order mark that some editors put before UTF-8. A compiler that is given text instead of a
/// file reports an error for it.
std::string_view without_byte_order_mark(std::string_view text);

/// The text after `#pragma tuner` on each such line, without comments and without blanks at its end. Throws SpecError
/// for NUL bytes, for text that is not UTF-8, and for comments that do not end on their directive's line. Also throws
/// it for a file that ends in a continuation, is larger than kMaxKernelFileBytes or has thousands of directives.
std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file);

}  // namespace tuner
