#pragma once
/// Tells by its words what in a text belongs to the host.

#include <string_view>

namespace tuner {

/// Whether \p word, a function of CUDA's libraries or a stream, is the host's.
bool is_word_of_the_host(std::string_view word);

/// Whether \p text names something of the C++ library that only the host has.
bool names_the_host(std::string_view text);

/// Variables of the host. Both backends know their types, which other types may have as members.
bool has_streams_or_events(std::string_view text);

/// Whether \p body has a static variable, other than a constant whose value is a number: device code may have that.
bool has_static_variable(std::string_view body);

}  // namespace tuner
