#pragma once
/// Looks at template arguments without a compiler: enough to say in one sentence that there are too few or too many, or
/// that the kernel makes nothing of one; and at macros. Private to this room.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// Says if \p instantiation (`f<T, block>`) has too few or too many arguments for the kernel that \p code declares
/// (code_of() of a text). Empty if the number is right, or if only a compiler can tell (macros, other files).
std::string template_argument_problem(std::string_view code, std::string_view instantiation);

/// Those arguments of \p instantiation whose template parameters the kernel's signature and body never name. None where
/// that cannot be told without a compiler.
std::vector<std::string_view> ignored_template_arguments(std::string_view source, std::string_view instantiation);

/// The line in which \p source defines \p macro, or takes its definition away, where the macros \p defined are: a
/// `#define` or `#undef` that no `#ifndef` or `!defined` of one of those, or of one that the text defines itself,
/// leaves out. 0: there is none.
int unguarded_definition(std::string_view source, std::string_view macro, std::set<std::string> defined);

}  // namespace tuner
