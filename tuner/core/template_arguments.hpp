#pragma once
/// Checks template arguments and macros without a compiler. Finds wrong numbers of template arguments, unused template
/// arguments, and macros that the text defines again. Private to this room.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// A message if \p instantiation (`f<T, block>`) has too few or too many arguments for the kernel that \p code
/// (code_of() of a text) declares. Empty if the number is right, or if only a compiler can know (macros, other files).
std::string template_argument_problem(std::string_view code, std::string_view instantiation);

/// The arguments of \p instantiation whose template parameters the kernel's signature and body never name. Empty if
/// only a compiler can know.
std::vector<std::string_view> ignored_template_arguments(std::string_view source, std::string_view instantiation);

/// The line in which \p source defines \p macro or removes its definition, although all macros of \p defined are
/// defined before; 0 if there is none. Does not count lines in an `#ifndef` or `#if !defined` of a macro of \p defined,
/// or of one that the text defines before.
int unguarded_definition(std::string_view source, std::string_view macro, std::set<std::string> defined);

}  // namespace tuner
