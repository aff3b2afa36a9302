#pragma once
/// The directives of a kernel file, with their places for messages. KernelReader reads them one by one. finish() then
/// does everything that needs all lines. Private to this room.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/expression/expression_parser.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner {

/// Places by the names of things.
using Places = std::map<std::string, SourceLocation, std::less<>>;

/// A launch whose directives are being read: one of the kernel, of its reference, or one that prepares each run.
struct LaunchDraft {
  enum class Role { kernel, reference, prepare };
  LaunchSpec launch;
  Role role = Role::kernel;
  Places given;                      ///< the directives that were read
  SourceLocation instantiate_place;  ///< of LaunchSpec::instantiate
};

struct FillDraft {
  std::string buffer;
  std::string field;  ///< of its records; empty: all fields
  FillSpec fill;
  SourceLocation location;
};

/// One setting of an output, with its place.
template <typename T>
struct OutputDraft {
  std::string buffer;
  T value;
  SourceLocation location;  ///< of the buffer's name
};

/// The values of parameters or of a choice.
struct ValuesDraft {
  std::vector<std::string> names;
  std::vector<Value> values;
  std::vector<SourceLocation> places;  ///< of `values`
};

/// The names in a `default` or `seed` line.
struct AssignedDraft {
  SourceLocation line;  ///< of the directive
  Places names;
};

struct DeclaredName {
  std::string what;  ///< "buffer", "size"
  SourceLocation place;
};

struct KernelDraft {
  KernelSpec spec;  ///< without its space, launches, reference, fills, and types that were left out
  std::vector<TuningParameter> parameters;
  std::vector<Constraint> constraints;
  Substitutions lets;
  std::vector<LaunchDraft> launches;
  std::vector<FillDraft> fills;
  std::vector<OutputDraft<AnswerFile>> answers;
  std::vector<OutputDraft<Expression>> compared;

  std::map<std::string, DeclaredName, std::less<>> names;     ///< everything that the file declares
  Places given;                                               ///< the directives that a file may have once
  std::vector<ValuesDraft> values;                            ///< of all parameters and choices
  std::vector<std::pair<std::string, SourceLocation>> types;  ///< the names of types of buffers, scalars and arguments

  std::vector<Places> verify_places;    ///< of the names in VerificationSpec::problems
  AssignedDraft default_names;          ///< of KernelSpec::default_configuration
  std::vector<AssignedDraft> seeds;     ///< of KernelSpec::seeds
  std::vector<Expression> expressions;  ///< of all directives
  std::int64_t least_alignment = 1;     ///< of pointers, for tensor maps

  /// Whether an argument called \p name is computed: a `let`, or a choice of integers.
  bool is_computed(std::string_view name) const;

  std::string code;                      ///< code_of() the program
  std::string reference_code;            ///< code_of() the reference's program, if that has its own sources
  std::optional<ExpandedCode> expanded;  ///< see expanded()
  std::optional<ScopedCode> unchanged;   ///< see unchanged()

  /// Why the types of buffers and scalars are not known from the text, by their names.
  std::map<std::string, std::string, std::less<>> untyped;
};

/// `stars`, or `stars.mass`.
std::string filled_name(const FillDraft& fill);

/// Changes the count of \p buffer from elements, as the file declares them, to numbers.
void count_in_numbers(BufferSpec& buffer);

/// Whether a kernel file has to be validated.
enum class Validation { required, already_done };
/// Sets the program's code, and finds the files that it includes if \p validation is required.
void find_texts(KernelDraft& draft, Validation validation);
/// Moves the sources already read out of \p from, a draft of the same file.
void take_texts(KernelDraft& draft, KernelDraft from);
/// The expanded_code() of \p text, the program's or a part of it, with the files that it includes.
ExpandedCode expanded_program(const ProgramSpec& program, const std::string& text, const KnownMacros& known);
/// The expanded_code() of the program. Call find_texts() first.
const ExpandedCode& expanded(KernelDraft& draft);
/// The scoped_code() of the unchanged program: its own definitions stand in place of the values of parameters and
/// choices. Call find_texts() first.
const ScopedCode& unchanged(KernelDraft& draft);
/// The constants of the program that expressions name and that the directives do not declare.
Substitutions constants_of(KernelDraft& draft);

/// Fills in what was left out, then validates the kernel if \p validation is required. Call find_texts() first. Throws
/// SpecError with a place.
KernelSpec finish(KernelDraft draft, Validation validation = Validation::required);

}  // namespace tuner
