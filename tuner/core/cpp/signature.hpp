#pragma once
/// Reads the text of a kernel without a compiler: heads of functions and template arguments. All functions take the
/// code_of() a text. Private to this room, convert, session and runtime.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner {

struct NamedType {
  std::string type;  ///< without the name: `const float *`, `typename`
  std::string name;  ///< may be empty
  bool has_default = false;
  std::string default_value = {};  ///< its value if it is left out

  bool is_pack() const { return type.ends_with("..."); }
  bool is_pointer() const { return type.find('*') != std::string::npos; }
  bool is_to_const() const;
};

struct Signature {
  std::size_t begin = 0;  ///< offset of its `template` or `__global__` in the text
  std::size_t end = 0;    ///< after the bracket of its arguments
  bool is_definition = true;
  std::string namespaces;  ///< around it, as `a::b::`, if the text was a ScopedCode
  std::string name;
  std::vector<NamedType> template_parameters;
  std::vector<NamedType> arguments;
};

/// The type and the name in `const float *__restrict__ x[] = 0`.
NamedType named_type(std::string_view part);

/// The `__global__` functions, all or those with the name \p kernel. Prototypes are left out if \p code
/// has a definition. Understands heads as people usually write them, and does not expand macros.
std::vector<Signature> find_signatures(std::string_view code, std::string_view kernel = {});
std::vector<Signature> find_signatures(const ScopedCode& code, std::string_view kernel);
/// The first of these.
std::optional<Signature> find_signature(std::string_view code, std::string_view kernel = {});

/// Whether a kernel of \p code may return before a `__syncthreads()`, which GPUs before Volta do not allow ("Barrier
/// Synchronization", PTX ISA).
bool returns_before_a_barrier(std::string_view code);

/// A message if \p instantiation (`f<T, block>`) has too few or too many arguments for the kernel that \p code
/// declares. Empty if the number is right, or if only a compiler can know (macros, other files).
std::string template_argument_problem(std::string_view code, std::string_view instantiation);

/// `T` and `block` of `f<T, block>`.
std::vector<std::string_view> template_arguments(std::string_view instantiation);
/// The arguments of \p instantiation whose template parameters the kernel's head and body never name. Empty if only a
/// compiler can know.
std::vector<std::string_view> ignored_template_arguments(std::string_view code, std::string_view instantiation);

}  // namespace tuner
