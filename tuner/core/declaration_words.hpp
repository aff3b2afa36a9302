#pragma once
/// Tells what a declaration is by its words: the parts of its head, the text before its body, and whether it belongs to
/// the host. Private to this room.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// \p head of a declaration, with nothing between its brackets: without attributes and `template <…>`, whose brackets
/// and signs are not the declaration's own.
std::string bare_head(std::string_view head);

/// The place of the first `=` that gives a value: not that of `==`, `<=`, `>=` or `!=`.
std::size_t assignment_in(std::string_view head);

/// Whether a head of these words is that of a struct, class, union or enum.
bool defines_type(const std::vector<std::string_view>& words);

/// The name of the type whose definition has the \p head: `class MACRO Name final : Base {`. Empty if it has none.
std::string_view type_named_in(std::string_view head);

/// The place after `public:` and the like, if that begins at \p at; else \p at.
std::size_t after_access(std::string_view code, std::size_t at);

/// Whether \p word, a function of CUDA's libraries or a stream, is the host's.
bool is_word_of_the_host(std::string_view word);

/// Whether \p text names something of the C++ library that only the host has.
bool names_the_host(std::string_view text);

/// Variables of the host. Both backends know their types, which other types may have as members.
bool has_streams_or_events(std::string_view text);

/// Whether \p body has a static variable, other than a constant whose value is a number: device code may have that.
bool has_static_variable(std::string_view body);

}  // namespace tuner
