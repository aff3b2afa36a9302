#pragma once
/// A kernel file whose directives have been read one by one, before what needs all of them is done. Private to this
/// room.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/expression_tree.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/names.hpp>

namespace tuner {

/// A launch of the kernel, of its reference or before each run while its directives come in.
struct LaunchDraft {
  enum class Role { kernel, reference, prepare };
  LaunchSpec launch;
  Role role = Role::kernel;
  std::map<std::string, SourceLocation> given;  ///< directives
  std::vector<SourceLocation> argument_places;
  SourceLocation instantiate_place;  ///< of LaunchSpec::instantiate
};

struct FillDraft {
  std::string buffer;
  std::string field;  ///< of its records; empty: all
  Fill fill;
  std::optional<ComputedFill> computed = {};
  SourceLocation location;
};

struct AnswerDraft {
  std::string buffer;
  AnswerFile file;
  SourceLocation location;  ///< of the buffer's name
};

struct ComparedDraft {
  std::string buffer;
  Expression when;
  SourceLocation location;
};

struct KernelDraft {
  KernelSpec spec;  ///< all but its space, launches, reference, fills, and types that were left out
  std::vector<TuningParameter> parameters;
  std::vector<Constraint> constraints;
  Substitutions lets;
  std::vector<LaunchDraft> launches;
  std::vector<FillDraft> fills;
  std::vector<AnswerDraft> answers;
  std::vector<ComparedDraft> compared;

  SpecPlaces places;                    ///< where everything stands
  std::vector<Expression> expressions;  ///< all of them
};

/// `stars`, or `stars.mass`.
std::string filled_name(const FillDraft& fill);

/// Makes the count of \p buffer, in elements as the file declares them, one in numbers.
void count_in_numbers(BufferSpec& buffer);

/// Fills in what was left out and checks the whole. Throws SpecError at the place of what does not fit together.
KernelSpec finish(KernelDraft draft);

}  // namespace tuner
