#pragma once
/// The head of a kernel in C++ text: what it takes, and what it is a template of. Private to this room and to convert.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct Declared {
  std::string type;  ///< without its name: `const float *`, `typename`
  std::string name;  ///< empty: it has none

  bool is_pointer() const { return type.find('*') != std::string::npos; }
  bool is_to_const() const;
};

struct Signature {
  std::size_t begin = 0;  ///< where its `template` or `__global__` stands in the text
  std::size_t end = 0;    ///< behind the bracket of its arguments
  bool is_definition = true;
  std::string name;
  std::vector<Declared> template_parameters;
  std::vector<Declared> arguments;
};

/// `const float *__restrict__` as `float`.
std::string plain_type(std::string type);

/// The first `__global__` function from \p from on, or the first of the name \p kernel: one with a body, where there is
/// one. Knows just enough of C++ for heads as people write them; macros stay what they are.
std::optional<Signature> find_signature(std::string_view text, std::string_view kernel = {}, std::size_t from = 0);

/// `a::b::` for what stands at \p at in two named namespaces of \p code, which has no comments; empty outside of all.
std::string namespaces_at(std::string_view code, std::size_t at);

/// Whether no brace is open at \p at of \p code but those of namespaces and of `extern "C"`.
bool is_in_namespaces_alone(std::string_view code, std::size_t at);

/// Whether the body of the function at the beginning of \p code adds to what \p pointer points to, or changes it in
/// another way that depends on what is there: `y[i] += 1`, `*y -= x`, `atomicAdd(&y[i], 1)`.
bool adds_to(std::string_view code, std::string_view pointer);
/// Whether it changes what \p pointer points to in any way that can be seen there: `y[i] = 1`, `*y = x`, or adds to it.
bool writes_to(std::string_view code, std::string_view pointer);

}  // namespace tuner
