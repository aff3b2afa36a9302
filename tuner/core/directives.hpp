#pragma once
/// Finds the `#pragma tuner` lines of a kernel file. Knows just enough C++ to tell them from comments and literals.
/// Private to this room.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/token.hpp>

namespace tuner {

/// \p text without the mark that some editors put before UTF-8: compilers that are given text, not a file, choke on it.
std::string_view without_byte_order_mark(std::string_view text);

/// What follows `#pragma tuner` on each such line, comments and blanks at the end left out. Throws SpecError for NUL
/// bytes, text that is not UTF-8, comments that do not end on their directive's line, and a file that ends in a
/// continuation, is larger than kMaxKernelFileBytes or has thousands of directives.
std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file);

}  // namespace tuner
