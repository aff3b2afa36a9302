#pragma once
/// The directives of a kernel file, read one by one, with their places for messages. KernelReader finds the errors that
/// a single line shows. finish() then does everything that needs all lines. Private to this room.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/expression/token.hpp>
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
  Places default_places;                ///< of the names in KernelSpec::default_configuration
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

/// For each launch of the kernel, fills in the directives that were left out:
/// - `instantiate`: the function with the name of the launch.
/// - `arguments`: those of the function, by their names.
/// - `block`: the parameters `block_size_x`, `_y` and `_z`, as in Kernel Tuner.
/// If the file has no `type`, fills in the types of buffers and scalars. If all launches leave out `instantiate`, adds
/// a `define` for each parameter and choice that occurs in the text and is not an argument. Throws SpecError at a
/// launch for which the text does not have the information.
void fill_in_from_text(KernelDraft& draft);

/// Fills in what was left out, then validates the kernel if \p validation is required. Call find_texts() first. Throws
/// SpecError with a place.
KernelSpec finish(KernelDraft draft, Validation validation = Validation::required);

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

/// Checks the launches of the kernel, of its reference and before each run.
void validate_launches(const Checks& checks);
/// Checks what is known of tensor maps without their numbers. Those follow tensor_map_rules().
void validate_tensor_maps(const Checks& checks);

struct KernelReader {
  KernelDraft draft;
  KernelSpec& spec = draft.spec;
  Token directive;  ///< the one that is being read
  SourceLocation directive_place;
  std::vector<SourceFile> known_sources;  ///< the `sources` of parse_kernel_file()

  KernelReader() = default;
  KernelReader(const KernelReader&) = delete;
  KernelReader& operator=(const KernelReader&) = delete;

  /// Throws SpecError if it was called with \p key before.
  void once(const std::string& key);
  /// Reads the name of a new \p what.
  std::string declare(TokenCursor& cursor, std::string_view what, bool in_expressions);
  /// Reads an expression up to the end of the line, a comma or \p closing: a character, or one of several words.
  Expression expression(TokenCursor& cursor, std::string_view closing = "]", Numbers numbers = Numbers::integers);
  /// Reads the expression in the braces that open at \p at of \p line, and moves \p at to the closing one.
  Expression in_braces(const LogicalLine& line, std::size_t& at);
  /// Reads `= VALUE VALUE …` to the end of the line, the values of each of \p names. No value may occur twice.
  const std::vector<Value>& values(TokenCursor& cursor, std::vector<std::string> names);
  /// Reads the name of a type. Returns the canonical name of an element type.
  std::string type_name(TokenCursor& cursor);
  /// Reads `NAME=VALUE …` to the end of the line. Calls \p read with each name to read its value. Returns the places of
  /// the names, none of which may occur twice.
  Places assignments(TokenCursor& cursor, const std::function<void(const std::string&)>& read);
  /// Reads the C++ name that \p of instantiates: the rest of the line, with expressions in braces and `let`s.
  void read_name(TokenCursor& cursor, std::string_view what, LaunchDraft& of);

  LaunchDraft& start_launch(const std::string& name, LaunchDraft::Role role);
  /// The launch that the current directive belongs to. Throws SpecError if that launch has such a directive already.
  LaunchDraft& once_in_launch();

 private:
  std::size_t values_ = 0;
  std::size_t operations_ = 0;
};

struct Directive {
  std::string_view name;
  void (*read)(KernelReader&, TokenCursor&);
};

void read_tensor_map(KernelReader& kernel, TokenCursor& cursor);

std::span<const Directive> name_directives();     ///< read_names.cpp
std::span<const Directive> data_directives();     ///< read_data.cpp
std::span<const Directive> program_directives();  ///< read_program.cpp: the program and its launches

}  // namespace tuner
