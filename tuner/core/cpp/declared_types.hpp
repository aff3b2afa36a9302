#pragma once
/// Finds types in the text of a kernel and of its headers, without a compiler. Private to this room and to convert.

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/scoped_code.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

/// `float` of `const float *__restrict__`.
std::string plain_type(std::string type);

/// \p text with nothing in place of these \p words.
std::string without_words(std::string_view text, std::initializer_list<std::string_view> words);
/// Whether \p type is a name, as `a::real`.
bool is_path(std::string_view type);
/// Where the bases of a class begin: after the first `:` of \p head that is not part of a `::`; npos if it has none.
std::size_t base_clause(std::string_view head);

/// Whether \p type consists of words of C++, as `unsigned char`: it means the same everywhere.
bool is_built_in(std::string_view type);
/// The type that \p used stands for in \p code, by `typedef float real;`, `using real = float;` or
/// `#define real float`. Aliases of aliases are followed. Returns \p used itself if it is not an alias, or if a
/// compiler decides: it has several meanings, or stands under an `#if`.
UsedName without_aliases(const ScopedCode& code, UsedName used);
/// The numbers_of() \p used, unless \p code has a type of that name in a namespace.
std::optional<VectorType> numbers_of(const ScopedCode& code, const UsedName& used);

/// Where \p code defines the struct, class, union or enum that \p used means, as far as it shows.
std::vector<std::size_t> type_definitions(const ScopedCode& code, const UsedName& used);
/// Where \p code defines types and aliases \p name, in any namespace.
std::vector<std::size_t> all_definitions(const ScopedCode& code, std::string_view name);

/// The type of the elements of a variable that \p code declares as `__constant__` or `__device__`: `float` of
/// `__constant__ float x[9]`. Its namespace ends with \p scope (`a::`). Nothing if there is none, or if several have
/// different types.
std::optional<UsedName> device_variable_type(const ScopedCode& code, std::string_view scope, std::string_view name);

}  // namespace tuner
