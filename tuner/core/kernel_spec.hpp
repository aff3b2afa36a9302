#pragma once
/// Everything known about one kernel: source, space, launches, arguments, reference, bytes and flops. Built from a
/// kernel file (kernel_file.hpp) or in code (tuner::KernelBuilder).

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/core/compile_option.hpp>
#include <tuner/core/configuration.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/includes.hpp>
#include <tuner/core/launch_shape.hpp>
#include <tuner/core/problem_size.hpp>
#include <tuner/core/search_space.hpp>

namespace tuner {

/// A compile-time choice of the caller: `type T = float double`, `choice operation = sum min`. Part of the problem,
/// not tuned.
struct ChoiceSpec {
  std::string name;
  bool is_type = false;
  std::vector<std::string> values;  ///< canonical type names for a type; the first is the default
};

/// A type that follows from a type choice: `type R of T = int8:int64 half:float`; where T has no entry, R is T.
/// Not part of the problem: the caller never sets it.
struct DerivedTypeSpec {
  std::string name;
  std::string of;
  std::map<std::string, std::string> mapping;  ///< canonical type names
};

/// A size of the problem and the integer type the kernel receives it as.
struct SizeSpec {
  std::string name;
  ElementType type = ElementType::int32;  ///< int32, uint32, int64 or uint64; a size that does not fit is Invalid
  std::optional<std::int64_t> default_value;
};

/// How an input is filled for tuning and verification; the same numbers on every backend for the same seed.
struct Fill {
  enum class Kind { uniform, constant, iota };
  Kind kind = Kind::uniform;
  double low = 0, high = 1;  ///< uniform: [low, high), rounded down for integers; constant: low
  SourceLocation location = {};

  /// What a buffer gets whose author does not say: uniform [0, 1) for floating types, [0, 10) for integers.
  static Fill by_default(ElementType type) { return {Kind::uniform, 0, info(type).is_floating ? 1.0 : 10.0, {}}; }
};

/// What an input is filled with where the numbers of a Fill are not known when the file is read. One of: bounds, an
/// element's value, a file.
struct ComputedFill {
  Fill numbers;                         ///< its kind, and a bound that is a number
  std::optional<Expression> low, high;  ///< bounds in their place, of sizes and choices
  std::optional<Expression> element;    ///< of these and of `i`, the element's index from 0
  std::string path;                     ///< as written; a relative one begins beside the kernel file
  SourceLocation location;
};

/// The expected elements of an output, as ComputedFill::path has those of an input.
struct AnswerFile {
  std::string path;
  SourceLocation location;
};

/// What one buffer, or one field of its records, is filled with.
struct FieldFill {
  std::optional<Fill> numbers;           ///< Fill::by_default() when left out
  std::optional<ComputedFill> computed;  ///< in their place
};

/// Some numbers of one type in a record: `float3 position`, `int id[2]`.
struct RecordField {
  std::string name;
  ElementType type = ElementType::float32;
  int count = 1;           ///< numbers
  std::size_t offset = 0;  ///< bytes from where the record begins
  bool is_bool = false;    ///< holds 0 or 1
  FieldFill fill = {};
};

/// Elements that are structs of several types: what they hold, and where C++ puts that.
struct RecordType {
  std::vector<RecordField> fields;
  std::size_t bytes = 0;  ///< of a record, with the padding at its end
};

enum class BufferRole {
  in,        ///< filled, never written by the kernel (checked)
  constant,  ///< filled; copied into the program's `__constant__` variable of this name, never an argument
  out,       ///< poisoned before each verification, compared with the reference
  inout,     ///< filled before each verification, compared with the reference
  consumed,  ///< filled before each verification; the kernel may destroy it; not compared (in-place reductions)
  scratch,   ///< uninitialised work space
  zeroed,    ///< zero before the first launch; the kernel leaves it zero (tickets)
};

struct BufferSpec {
  std::string name;
  BufferRole role = BufferRole::in;
  std::string type;                                ///< a type choice ("T"), a derived type or an element type name
  Expression count;                                ///< in `type`s; may use parameters for scratch and zeroed only
  std::optional<Fill> fill;                        ///< of an input; Fill::by_default() when left out
  std::optional<ComputedFill> computed_fill = {};  ///< in its place
  std::optional<AnswerFile> answer = {};           ///< of an output: what it is compared with
  std::optional<Expression> compared = {};  ///< of an output: of element `i`, whether it is compared; all when left out
  int components = 1;                       ///< of `type` in one element as the file declares it: 4 for float4
  std::vector<std::string> component_names = {};  ///< of a struct's numbers; else `x y z w`, or their indices
  std::string scope = {};                         ///< of a constant: where its variable is, as "convolution::"
  std::optional<RecordType> record = {};  ///< what an element is; `type` is then uint8, and `components` its bytes
};

/// How a texture object reads ("Texture Object API", CUDA C++ Programming Guide).
struct TextureReading {
  enum class Outside { clamp, border, wrap, mirror };
  Outside outside = Outside::clamp;  ///< what is read there: the nearest element, zero, or the picture repeated
  bool linear = false;               ///< interpolates; else the element nearest to the coordinates
  bool normalized = false;           ///< coordinates go from 0 to 1
  bool as_float = false;             ///< integers are read as numbers from 0, or -1, to 1
  bool fetched = false;              ///< one dimension, in linear memory: by tex1Dfetch, and by nothing else
};

/// An argument through which a kernel reads or writes a buffer: `texture image = pixels[nx, ny] linear`, `surface to =
/// result[nx, ny]`. It shows a copy of the buffer, made before runs that are verified or timed; what a surface shows is
/// copied back after those that are verified.
struct TextureSpec {
  std::string name;
  bool is_surface = false;
  std::string buffer;
  std::vector<Expression> extent;  ///< one to three: elements in x, y and z
  TextureReading reading = {};     ///< of a texture
  SourceLocation location;
};

/// A by-value argument that is not a size: `scalar alpha : float = 2`.
struct ScalarSpec {
  std::string name;
  std::string type;  ///< a type choice or an element type name
  double value = 0;
  SourceLocation location = {};  ///< of the value
};

/// What is worked out in a C++ name: `{tile * 2}`, or the name of a `let`.
struct ComputedText {
  std::string text;  ///< as it stands there
  Expression value;
  std::size_t at = 0;  ///< where a text in braces begins in `instantiate`
};

/// An argument that is worked out: `tile * 2 : int64`.
struct ComputedArgument {
  std::string name;  ///< as it stands in LaunchSpec::arguments
  Expression value;
  std::string type;  ///< a type choice, a derived type or an element type name
};

/// One kernel launch. Several in order make up a kernel that needs them (two-launch reductions).
struct LaunchSpec {
  std::string name;                          ///< for messages
  std::string instantiate;                   ///< as written: `sumMatrix2D<T, block_x, block_y>`; names are substituted
  std::vector<ComputedText> computed_texts;  ///< those of `instantiate`
  /// In blocks and threads; missing dimensions are 1.
  std::array<Expression, 3> grid{Expression::constant(1), Expression::constant(1), Expression::constant(1)};
  std::array<Expression, 3> block{Expression::constant(1), Expression::constant(1), Expression::constant(1)};
  Expression shared_bytes;  ///< dynamic shared memory
  /// Names of buffers, sizes, scalars, textures, parameters and `computed_arguments`, in order.
  std::vector<std::string> arguments;
  std::vector<ComputedArgument> computed_arguments;
  std::optional<Expression> when;         ///< launched only where it holds
  std::optional<Expression> cooperative;  ///< where it holds, all blocks of the grid may wait for each other
  std::optional<Expression> untimed;      ///< where it holds, part of the result and not of the time
  SourceLocation location;

  const ComputedArgument* find_computed(std::string_view argument) const;
};

/// An option of the compiler: `compile --maxrregcount={registers} when registers > 0`.
struct CompileOptionSpec {
  std::vector<std::variant<std::string, Expression>> parts;  ///< as written, with values in between
  std::optional<Expression> when;                            ///< given only where it holds
  SourceLocation location;

  /// Those of its values and its condition, some perhaps more than once.
  std::vector<std::string> names() const;
};

/// A macro of the kernel: `define TILE = block * items`.
struct MacroSpec {
  std::string name;
  Expression value;  ///< the name of a parameter, choice, type or size, or what is computed of them
  SourceLocation location;
};

/// What is compiled of a kernel file: its kernels, or its reference.
enum class ProgramPart { kernel, reference };

/// A file whose text stands in the program where `source "matmul.cu"` stands in the kernel file.
struct SourceFile {
  std::string path;  ///< as found: relative to where the kernel file was named
  std::string text;  ///< as it was when the kernel file was read
  int line = 0;      ///< of the kernel file, behind which it stands
  bool of_reference = false;
};

/// What says which results are right.
enum class ReferenceKind {
  none,                   ///< nothing in the kernel file
  kernel,                 ///< kernels of their own, which compute the outputs in the plainest way
  default_configuration,  ///< the kernel itself, in its default configuration: all others are compared with that
  file,                   ///< BufferSpec::answer of every output
};
/// "kernel", "default configuration", "answer in a file"; empty for none.
std::string_view text(ReferenceKind kind);

/// A further problem on which every configuration is verified before it may win.
struct VerifySpec {
  std::map<std::string, std::int64_t> sizes;
  std::int64_t offset = 0;  ///< elements by which every in/out buffer is shifted from its aligned start
};

/// How outputs are compared: |actual - expected| <= absolute + relative * |expected|; integers exactly.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

struct KernelSpec {
  std::string name;
  std::string file;    ///< where it came from, for messages
  std::string source;  ///< the whole file
  /// Of both programs; a reference that has none of its own is compiled from the kernel's.
  std::vector<SourceFile> sources;
  /// Folders where `#include` looks before the compiler's own: those of `sources`, then `include_path`.
  std::vector<std::string> include_paths;
  /// The files that program_text() includes, as they were when it was read; null: not known to include any.
  std::shared_ptr<const Includes> includes;
  std::shared_ptr<const Includes> reference_includes;  ///< the same of the reference's, where it has sources of its own
  std::vector<ChoiceSpec> choices;
  std::vector<DerivedTypeSpec> derived_types;
  std::vector<SizeSpec> sizes;
  SearchSpace space;
  std::vector<BufferSpec> buffers;
  std::vector<ScalarSpec> scalars;
  std::vector<TextureSpec> textures;
  std::vector<LaunchSpec> launches;
  std::vector<LaunchSpec> reference;  ///< launches of ReferenceKind::kernel
  /// Made before every run, of the reference too, and never timed: what a run finds in the buffers that it changes.
  /// Served calls go without them: there that is the caller's.
  std::vector<LaunchSpec> prepare;
  bool default_is_reference = false;  ///< ReferenceKind::default_configuration
  std::vector<VerifySpec> verify;
  std::optional<Tolerance> tolerance;     ///< given in the file; else by type, see tolerance_for()
  std::optional<Expression> accumulates;  ///< terms summed into one output element; widens the default tolerance
  std::optional<Expression> bytes;        ///< minimum traffic of one run, for GB/s
  std::optional<Expression> flops;
  /// The file's kernels launch kernels themselves: so many of these launches are pending at once, at most. May use
  /// parameters.
  std::optional<Expression> device_launches;
  std::vector<CompileOptionSpec> compile_options;
  std::vector<MacroSpec> macros;
  std::optional<Configuration> default_configuration;

  /// None: verified against a C++ function or, failing that, not at all.
  ReferenceKind reference_kind() const;
  /// Whether something is compiled and launched to find out what is right.
  bool has_reference_program() const {
    return reference_kind() == ReferenceKind::kernel || reference_kind() == ReferenceKind::default_configuration;
  }
  bool has_reference_sources() const;
  /// The first choice that is of types; null where there is none.
  const ChoiceSpec* type_choice() const;
  const ChoiceSpec* find_choice(std::string_view name) const;
  const SizeSpec* find_size(std::string_view name) const;
  const BufferSpec* find_buffer(std::string_view name) const;
  const ScalarSpec* find_scalar(std::string_view name) const;
  const TextureSpec* find_texture(std::string_view name) const;
};

/// Where a file that \p spec names as \p path is: beside the kernel file, unless its path is absolute.
std::filesystem::path beside(const KernelSpec& spec, const std::string& path);
/// The files that inputs of \p spec are filled from, as it names them.
std::vector<std::string> fill_files(const KernelSpec& spec);
/// The files of numbers that \p spec names, each once. What is measured with them belongs to what they hold.
std::vector<std::filesystem::path> data_files(const KernelSpec& spec);

/// Throws SpecError at the first thing that makes no kernel: unknown or clashing names, values that are not allowed,
/// missing parts, parameters where none may be. Both ways to a KernelSpec end here: parse_kernel_file() with places,
/// code that fills a KernelSpec itself without.
void validate(const KernelSpec& spec);

/// \p size with every missing choice and size at its default. Throws Error naming an unknown name (with a
/// suggestion), a value that is not allowed, or a size that has no default.
ProblemSize complete(const KernelSpec& spec, ProblemSize size);

/// \p size with the sizes of \p verify in place of its own: the same choices, another problem.
ProblemSize with_verify(ProblemSize size, const VerifySpec& verify);

/// Names that expressions of \p spec may use with their values: sizes, choices, device limits (`warp_size`,
/// `sm_count`, `max_threads_per_block`, `max_shared_bytes`, `cc`, …; docs/kernel-files.md).
Bindings bindings(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);
/// The same with the values of \p configuration added.
Bindings bindings(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                  const Configuration& configuration);

/// The configurations of \p spec that meet its constraints AND the limits of the device for every launch (threads
/// per block, block and grid dimensions, dynamic shared memory, what can be resident of a cooperative grid).
/// With \p at_most, the search ends when it has found so many. Throws as SearchSpace::enumerate().
EnumeratedSpace enumerate(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                          const StopHook& stop = {}, std::size_t at_most = ~std::size_t{0});

/// Why no configuration of \p spec can run on such a device whatever the problem, as what is said of the kernel:
/// "launches kernels from the device; the host backend cannot". Nothing when some may.
std::optional<std::string> why_never(const KernelSpec& spec, const DeviceLimits& limits);

/// Why \p configuration may not run for (\p size, \p limits): a value outside the space, a constraint, a device
/// limit, a size that does not fit its type. Nothing when it may.
std::optional<std::string> why_invalid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                       const Configuration& configuration);

/// One launch with every name replaced by its value.
struct ResolvedLaunch {
  const LaunchSpec* spec = nullptr;
  std::string expression;  ///< C++ name expression: `sumMatrix2D<float, 32, 8>`
  LaunchShape shape;
  bool timed = true;
};

/// The launches of (\p spec, \p size, \p configuration), in order, those whose `when` fails left out. Throws
/// EvaluationError where why_invalid() would give it as the reason.
std::vector<ResolvedLaunch> resolve_launches(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits, const Configuration& configuration);
/// The launches before each run, in order, those whose `when` fails left out: the same for every configuration. Throws
/// EvaluationError where why_invalid() would give it as the reason.
std::vector<ResolvedLaunch> resolve_prepare(const KernelSpec& spec, const ProblemSize& size,
                                            const DeviceLimits& limits);
/// The subject of messages about the reference: "the reference", with what it is where that is not its own kernel.
std::string_view reference_name(const KernelSpec& spec);
/// What results of \p spec are compared with, where that is not a reference of its own and has to be told with them:
/// the text of another kind; empty otherwise.
std::string weaker_reference(const KernelSpec& spec);
/// The configuration that the reference's launches are made with: empty where they take no parameters.
Configuration reference_configuration(const KernelSpec& spec);
/// The reference's launches. Throws Error where the default configuration is the reference and cannot run.
std::vector<ResolvedLaunch> resolve_reference(const KernelSpec& spec, const ProblemSize& size,
                                              const DeviceLimits& limits);

/// What is compiled: the kernel file with the text of each `source` in its place, lines numbered as in their files.
std::string program_text(const KernelSpec& spec, ProgramPart part = ProgramPart::kernel);
/// False where neither that program nor what it includes has \p word.
bool may_occur(const KernelSpec& spec, ProgramPart part, std::string_view word);

/// The options that \p configuration is compiled with for \p size, in their order. Throws EvaluationError where
/// why_invalid() would give it as the reason.
std::vector<CompileOption> compile_options(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                           const Configuration& configuration);
/// Those that the reference is compiled with: all that are not about speed or exactness (belongs_to_reference()) and,
/// but for a default configuration, name no parameter. A kernel that may be inexact is judged by an exact answer.
std::vector<CompileOption> reference_options(const KernelSpec& spec, const ProblemSize& size,
                                             const DeviceLimits& limits);

/// The macros of \p configuration, `NAME=VALUE`: a type by its C++ spelling, a negative number in parentheses. Throws
/// EvaluationError where why_invalid() would give it as the reason.
std::vector<std::string> macros(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                const Configuration& configuration);
/// Those that the reference is compiled with: of the default configuration or, where there is none, of each parameter's
/// first value; without those that have no value then.
std::vector<std::string> reference_macros(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

/// The parameters that occur nowhere in what is compiled or launched (`instantiate`, `compile`, macros that the text
/// names, launch shapes, `when`, arguments, work space): all of their values give one and the same program.
std::vector<std::string> unused_parameters(const KernelSpec& spec);

/// \p amount (`bytes`, `flops` or `accumulates` of \p spec) for \p size. Throws EvaluationError at its place where it
/// has no answer or a negative one.
std::int64_t evaluate_amount(const KernelSpec& spec, const Expression& amount, const ProblemSize& size,
                             const DeviceLimits& limits);

/// How many launches from the device \p configuration has pending at once, at most; 0 for a kernel that makes none.
/// Throws EvaluationError where why_invalid() would give it as the reason.
std::int64_t pending_device_launches(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                     const Configuration& configuration);

/// Macros defined for every compile of \p size: `TUNER=1`, and for each choice `TUNER_T_float=1`.
std::vector<std::string> defines(const KernelSpec& spec, const ProblemSize& size);

/// Element type of a buffer or scalar once choices are made. Throws Error for a type that is no element type.
ElementType resolved_type(const KernelSpec& spec, const ProblemSize& size, std::string_view type);

/// The file's tolerance, or u * (16 + sqrt(terms)) for floating types: rounding errors of a sum of `terms` terms
/// grow with its square root (Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019).
Tolerance tolerance_for(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits, ElementType type);

}  // namespace tuner
