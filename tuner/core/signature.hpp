#pragma once
/// Reads the text of a kernel without a compiler: heads of functions, template arguments, aliases of types. All
/// functions take the code_of() a text. Private to this room, convert, session and runtime.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct Declared {
  std::string type;  ///< without the name: `const float *`, `typename`
  std::string name;  ///< may be empty
  bool may_be_left_out = false;
  std::string otherwise = {};  ///< its value if it is left out

  bool is_pack() const { return type.ends_with("..."); }
  bool is_pointer() const { return type.find('*') != std::string::npos; }
  bool is_to_const() const;
};

struct Signature {
  std::size_t begin = 0;  ///< offset of its `template` or `__global__` in the text
  std::size_t end = 0;    ///< after the bracket of its arguments
  bool is_definition = true;
  std::string name;
  std::vector<Declared> template_parameters;
  std::vector<Declared> arguments;
};

/// `float` of `const float *__restrict__`.
std::string plain_type(std::string type);

/// The `__global__` functions from \p from on, all or those with the name \p kernel. Prototypes are left out if \p code
/// has a definition. Understands heads as people usually write them, and does not expand macros.
std::vector<Signature> find_signatures(std::string_view code, std::string_view kernel = {}, std::size_t from = 0);
/// The first of these.
std::optional<Signature> find_signature(std::string_view code, std::string_view kernel = {}, std::size_t from = 0);

/// The namespaces around \p at, as `a::b::`; empty if there are none. \p code has no comments.
std::string namespaces_at(std::string_view code, std::size_t at);

/// Whether the function at the beginning of \p code updates elements of \p pointer, that is, computes new values from
/// old ones: `y[i] += 1`, `*y -= x`, `atomicAdd(&y[i], 1)`.
bool adds_to(std::string_view code, std::string_view pointer);
/// Whether that body visibly changes elements of \p pointer: `y[i] = 1`, `*y = x`, or as in adds_to().
bool writes_to(std::string_view code, std::string_view pointer);

/// Whether a kernel of \p code may return before a `__syncthreads()`, which GPUs before Volta do not allow ("Barrier
/// Synchronization", PTX ISA).
bool returns_before_a_barrier(std::string_view code);

/// The type of the elements of a variable that \p code declares as `__constant__` or `__device__`: `float` of
/// `__constant__ float x[9]`. Its namespace ends with \p scope (`a::`). Empty if there is none, or if several have
/// different types.
std::string device_variable_type(std::string_view code, std::string_view scope, std::string_view name);

/// A message if \p instantiation (`f<T, block>`) has too few or too many arguments for the kernel that \p code
/// declares. Empty if the number is right, or if only a compiler can know (macros, other files).
std::string template_argument_problem(std::string_view code, std::string_view instantiation);

/// `T` and `block` of `f<T, block>`.
std::vector<std::string_view> template_arguments(std::string_view instantiation);
/// The arguments of \p instantiation whose template parameters the kernel's head and body never name. Empty if only a
/// compiler can know.
std::vector<std::string_view> ignored_template_arguments(std::string_view code, std::string_view instantiation);

/// Whether \p at is outside of every `#if` and of all braces except those of namespaces and of `extern "C"`.
bool is_always_there(std::string_view code, std::size_t at);

/// Whether \p code gives \p name a meaning in one of the ways of without_aliases(), or in several.
bool is_alias(std::string_view code, std::string_view name);
/// The type that \p type stands for in \p code, by `typedef float real;`, `using real = float;` or
/// `#define real float`. Aliases of aliases are followed. Returns \p type itself if it is not an alias, or if the
/// preprocessor or a namespace decides: it has several meanings, or a directive asks whether it is defined.
std::string without_aliases(std::string_view code, std::string type);

}  // namespace tuner
