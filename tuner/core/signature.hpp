#pragma once
/// Finds the head of a kernel in C++ text: its arguments and template parameters. Private to this room and to convert.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct Declared {
  std::string type;  ///< without the name: `const float *`, `typename`
  std::string name;  ///< may be empty

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

/// The first `__global__` function from \p from on, with the name \p kernel if that is given: one with a body if there
/// is one. Understands heads as people usually write them, and does not expand macros.
std::optional<Signature> find_signature(std::string_view text, std::string_view kernel = {}, std::size_t from = 0);

/// The namespaces around \p at, as `a::b::`; empty if there are none. \p code has no comments.
std::string namespaces_at(std::string_view code, std::size_t at);

/// Whether the function at the beginning of \p code updates elements of \p pointer, that is, computes new values from
/// old ones: `y[i] += 1`, `*y -= x`, `atomicAdd(&y[i], 1)`.
bool adds_to(std::string_view code, std::string_view pointer);
/// Whether that body visibly changes elements of \p pointer: `y[i] = 1`, `*y = x`, or as in adds_to().
bool writes_to(std::string_view code, std::string_view pointer);

}  // namespace tuner
