#pragma once
/// The template parameters of a kernel with the values that a text gives them. Private to this room.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tuner/convert/first_launch.hpp>
#include <tuner/core/cpp/scoped_code.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/names.hpp>

namespace tuner::convert {

struct TemplateParameter {
  enum class Kind { type, integer, flag, other };
  Kind kind = Kind::other;
  std::string type;                        ///< `typename`, `int`, `Op`
  std::string name;                        ///< a possible_name()
  std::string written;                     ///< the argument in the launch; empty if that has none
  std::string argument;                    ///< the same with values of variables; else the default; else empty
  std::optional<std::int64_t> value = {};  ///< of an integer
};

/// The parameters that a launch has to name: the arguments of \p launch, else all up to one that is better left out.
/// \p all: the source with included files.
std::vector<TemplateParameter> template_parameters_of(const ScopedCode& all, const Signature& kernel,
                                                      const std::optional<WrittenLaunch>& launch);

/// \p type as the arguments of \p kernel use it, without aliases.
UsedName used_by(const ScopedCode& all, const Signature& kernel, std::string type);

/// \p argument, a type or an enumerator, as it is called outside of all namespaces.
std::string qualified(const ScopedCode& all, const Signature& kernel, const TemplateParameter& of);

struct Enumerators {
  std::string path;  ///< before each: `acme::Op::`
  std::vector<std::string> names;
};
/// The enumerators of the enum that \p type names in \p kernel; nothing if \p all does not define it.
std::optional<Enumerators> enumerators_of(const ScopedCode& all, const Signature& kernel, const std::string& type);

}  // namespace tuner::convert
