#pragma once
/// The parts of validate(), and a base with everything that they share. Private to this room.

#include <initializer_list>
#include <string>

#include <tuner/core/names.hpp>

namespace tuner {

class Checks {
 public:
  Checks(const KernelSpec& spec, const SpecPlaces& places);

 protected:
  /// Throws SpecError at the place of the first of \p keys that has one.
  [[noreturn]] void fail(std::initializer_list<std::string> keys, const std::string& message) const;
  /// Throws SpecError at \p place or, if there is none, about the whole file.
  [[noreturn]] void fail_at(const SourceLocation& place, const std::string& message) const;

  /// Throws SpecError for a name that is unknown or used wrongly. \p why: the reason in the message if the expression
  /// names a parameter that is refused.
  void check(const Expression& expression, Parameters parameters, const std::string& why) const;
  void check_names_of(const Expression& expression, const KnownNames& known) const;
  void refuse_parameters(const Expression& expression, const std::string& why) const;
  /// Whether \p value is just one name, which may be a word.
  bool is_known_name(const Expression& value) const;
  void require_type(const std::string& name, std::initializer_list<std::string> keys) const;

  const KernelSpec& spec_;
  const SpecPlaces& places_;
  KnownNames all_, fixed_;  // with and without parameters
};

/// Checks buffers and scalars.
void validate_buffers(const Checks& checks);
/// Checks constant memory, textures and surfaces.
void validate_memory(const Checks& checks);
/// Checks the launches of the kernel, of its reference and before each run.
void validate_launches(const Checks& checks);

}  // namespace tuner
