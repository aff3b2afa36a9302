#pragma once
/// Validates a kernel whose directives have all been read. Private to this room.

#include <string_view>

#include <tuner/core/expression/expression_names.hpp>
#include <tuner/core/kernel_file/kernel_draft.hpp>

namespace tuner {

/// Throws SpecError for the first error: unknown or clashing names, values that are not allowed, missing parts,
/// parameters where none are allowed. Every kernel is checked here, once.
void validate(const KernelDraft& draft);

/// A base of the two parts of validate(), with everything that they share.
class Checks {
 public:
  /// \p names: all that expressions may use. Both must outlive this.
  Checks(const KernelDraft& draft, const KnownNames& names) : draft_(draft), spec_(draft.spec), all_(names) {}

 protected:
  /// Throws SpecError at the first parameter, unless \p why is empty: the reason in the message.
  void refuse_parameters(const Expression& expression, std::string_view why) const;
  /// Whether \p value is just one name, which may be a word.
  bool is_known_name(const Expression& value) const;
  /// Whether \p value is just a parameter whose values are numbers with a point.
  bool is_floating_parameter(const Expression& value) const;

  const KernelDraft& draft_;
  const KernelSpec& spec_;
  const KnownNames& all_;
};

}  // namespace tuner
