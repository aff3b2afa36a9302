#pragma once
/// Tells what a declaration is by its words: the parts of its head, the text before its body. Private to this room.

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

}  // namespace tuner
