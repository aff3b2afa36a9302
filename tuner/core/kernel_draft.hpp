#pragma once
/// The directives of a kernel file, read one by one. finish() then does everything that needs all of them. Private to
/// this room.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/expression_tree.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/names.hpp>

namespace tuner {

/// A launch whose directives are being read: one of the kernel, of its reference, or one that prepares each run.
struct LaunchDraft {
  enum class Role { kernel, reference, prepare };
  LaunchSpec launch;
  Role role = Role::kernel;
  std::map<std::string, SourceLocation> given;  ///< the directives that were read
  std::vector<SourceLocation> argument_places;
  SourceLocation instantiate_place;  ///< of LaunchSpec::instantiate
};

struct FillDraft {
  std::string buffer;
  std::string field;  ///< of its records; empty: all fields
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
  KernelSpec spec;  ///< without its space, launches, reference, fills, and types that were left out
  std::vector<TuningParameter> parameters;
  std::vector<Constraint> constraints;
  Substitutions lets;
  std::vector<LaunchDraft> launches;
  std::vector<FillDraft> fills;
  std::vector<AnswerDraft> answers;
  std::vector<ComparedDraft> compared;

  SpecPlaces places;                    ///< of everything, for messages
  std::vector<Expression> expressions;  ///< of all directives
};

/// `stars`, or `stars.mass`.
std::string filled_name(const FillDraft& fill);

/// Changes the count of \p buffer from elements, as the file declares them, to numbers.
void count_in_numbers(BufferSpec& buffer);

/// Whether a kernel file was read and judged before.
enum class Judged { now, before };
/// Fills in what was left out, then validates the kernel if it has to be judged. Throws SpecError with a place.
KernelSpec finish(KernelDraft draft, Judged judged = Judged::now);

}  // namespace tuner
