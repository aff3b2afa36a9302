#pragma once
/// Words of kernels and of their files: which may name things, and where they stand in a text.

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// Letters, digits and underscores of ASCII, no digit first.
bool is_identifier(std::string_view text);

/// Why \p name cannot name a thing that expressions use (a keyword, a function, a type, a device limit); empty when
/// it can.
std::string name_problem(std::string_view name);

/// What expressions call the device's limits, such as `warp_size`.
const std::vector<std::string>& device_limit_names();

/// \p text with each word of \p values replaced by its value.
std::string substitute_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& values);
/// The words of \p text, in order: pieces of it, which a string that ends with the call would take with it.
std::vector<std::string_view> words_of(std::string_view text);
template <std::same_as<std::string> Temporary>
void words_of(Temporary&& text) = delete;

/// \p text with blanks for its comments and literals; everything keeps its place, the ends of lines too.
std::string code_of(std::string_view text);
/// Whether \p word stands in \p source other than in comments, literals and `#pragma tuner` lines.
bool occurs_in_code(std::string_view source, std::string_view word);

}  // namespace tuner
