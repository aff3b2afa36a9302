#pragma once
/// What another tuner fills floating elements with, as kernel files write it. Internal to the room.

#include <string>
#include <string_view>

#include <tuner/convert/translate.hpp>

namespace tuner::convert {

/// \p text, in Python or in C: casts to float and numbers as 0.1f tell C, in which whole numbers divide to whole
/// numbers; in Python `/` makes fractions. Throws python::NotUnderstood for what kernel files cannot say.
std::string element_formula(std::string_view text, const Meaning& meaning);

}  // namespace tuner::convert
