#pragma once
/// Counts template arguments without a compiler: enough to say in one sentence that there are too few or too many.
/// Private to this room.

#include <string>
#include <string_view>

namespace tuner {

/// What is wrong with the number of arguments of \p instantiation (`f<T, block>`) of a kernel declared in \p source;
/// empty when it is right, and wherever the declaration cannot be told without a compiler (macros, other files).
std::string template_argument_problem(std::string_view source, std::string_view instantiation);

}  // namespace tuner
