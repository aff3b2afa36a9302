#pragma once
/// All expressions of a kernel, and the use of each. Whoever needs every expression of some kind asks here, so that a
/// new directive names its expression once.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

class Expression;
struct KernelSpec;
struct LaunchSpec;

enum class ExpressionRole {
  constraint,  ///< decides which configurations are valid

  code,  ///< a part of the program or of its compilation: in the name of a function, an option, a macro

  launch,      ///< the shape, a condition or an argument of a launch
  work_space,  ///< the number of elements of a scratch or zeroed buffer

  other,  ///< changes neither program nor launches: inputs, rates, checks
};

struct ExpressionUse {
  ExpressionRole role = ExpressionRole::other;
  std::string_view why_fixed = {};  ///< the reason why it must not name parameters; empty: it may

  const Expression* when = nullptr;    ///< not null: it is evaluated only if this is true
  const LaunchSpec* launch = nullptr;  ///< the launch that it belongs to

  bool only_tuning = false;  ///< belongs to the reference, or to a launch before each run
  bool may_be_word = false;  ///< one name alone may be a word or a type

  std::string_view stands_for = {};  ///< the text in the program that it replaces: `TILE`, `{tile * 2}`
  std::string of_elements = {};      ///< the directive, if `i` is the index of an element: "compare out"
};

/// Calls \p visit for each expression of \p spec, in the order of the members of KernelSpec.
void for_each_expression(const KernelSpec& spec,
                         const std::function<void(const Expression&, const ExpressionUse&)>& visit);

/// The parameters that change neither the program nor its launches, whatever their values. They occur in none of these:
/// `instantiate`, `compile`, macros that the text names, launch shapes, `when`, arguments, work space.
std::vector<std::string> unused_parameters(const KernelSpec& spec);

}  // namespace tuner
