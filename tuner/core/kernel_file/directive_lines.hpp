#pragma once
/// Finds the lines of a kernel file that are directives. Private to this room.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/expression/token.hpp>

namespace tuner {

/// The text from `pragma tuner` on each such line, without comments and without blanks at its end. Throws SpecError for
/// NUL bytes, for such lines that are not UTF-8, and for comments that do not end on their directive's line. Also
/// throws it for a file that ends in a continuation, is larger than kMaxKernelFileBytes or has thousands of directives.
std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file);

/// For each line that was probably meant to be a directive, such as `#pragma tune kernel`: a sentence with its place.
std::vector<std::string> misspelt_directives(std::string_view text, const std::string& file);

}  // namespace tuner
