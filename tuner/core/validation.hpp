#pragma once
/// Judges a draft: everything that a single line of a kernel file does not show. Private to this room.

#include <string>

#include <tuner/core/kernel_draft.hpp>
#include <tuner/core/names.hpp>

namespace tuner {

/// Throws SpecError for the first error: unknown or clashing names, values that are not allowed, missing parts,
/// parameters where none are allowed. Every kernel is checked here, once.
void validate(const KernelDraft& draft);

/// A base of the two parts of validate(), with everything that they share.
class Checks {
 public:
  explicit Checks(const KernelDraft& draft);

 protected:
  /// Throws SpecError for a name that is unknown or used wrongly. \p why: the reason in the message if the expression
  /// names a parameter that is refused.
  void check(const Expression& expression, Parameters parameters, const std::string& why) const;
  void refuse_parameters(const Expression& expression, const std::string& why) const;
  /// Whether \p value is just one name, which may be a word.
  bool is_known_name(const Expression& value) const;

  const KernelDraft& draft_;
  const KernelSpec& spec_;
  KnownNames all_, fixed_;  // with and without parameters
};

/// Checks the launches of the kernel, of its reference and before each run.
void validate_launches(const Checks& checks);

}  // namespace tuner
