#pragma once
/// Translates formulas that fill floating elements to those of kernel files. Internal to the room.

#include <string>
#include <string_view>

#include <tuner/convert/translate.hpp>

namespace tuner::convert {

/// \p text is Python or C. A cast to float, or a number such as 0.1f, marks C, where dividing whole numbers gives a
/// whole number; in Python, `/` gives a fraction. Throws python::NotUnderstood if kernel files cannot express it.
std::string element_formula(std::string_view text, const Meaning& meaning);

}  // namespace tuner::convert
