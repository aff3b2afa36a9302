#pragma once
/// The words of C++.

#include <string_view>

namespace tuner {

/// Whether C++20 reserves \p name: a keyword, or a word for an operator such as `xor`.
bool is_word_of_cpp(std::string_view name);

}  // namespace tuner
