#pragma once
/// The description of one kernel: source, space, launches, arguments, reference, bytes and flops. Made from a kernel
/// file (kernel_file/kernel_file.hpp) or in code (tuner::KernelBuilder). Data only: the other headers of this folder
/// say what follows from it.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/core/device/tensor_map.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/kernel/buffer_contents.hpp>
#include <tuner/core/space/search_space.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner {

struct Includes;

/// A compile-time choice of the caller: `type T = float double`, `choice operation = sum min`. It is part of the
/// problem and not tuned.
struct ChoiceSpec {
  std::string name;
  bool is_type = false;
  std::vector<std::string> values;  ///< canonical type names for a type; the first is the default
};

/// A type that follows from a type choice: `type R of T = int8:int64 half:float`. If T has no entry, R is T. The caller
/// never sets it, so it is not part of the problem.
struct DerivedTypeSpec {
  std::string name;
  std::string of;
  std::map<std::string, std::string> mapping;  ///< canonical type names
  SourceLocation location;                     ///< of `of`
};

/// A size of the problem, and the integer type of the kernel's argument.
struct SizeSpec {
  std::string name;
  ElementType type = ElementType::int32;  ///< int32, uint32, int64 or uint64; a size that does not fit is Invalid
  std::optional<std::int64_t> default_value;
};

/// How an input, or a field of its records, is filled for tuning and verification: with `numbers`, unless there is an
/// `element` or a `path`.
struct FillSpec {
  Fill numbers;                         ///< its kind, and bounds that are numbers
  std::optional<Expression> low = {};   ///< a bound that is an expression of sizes and choices
  std::optional<Expression> high = {};  ///< likewise

  std::optional<Expression> element = {};  ///< of sizes, choices and `i`, the element's index from 0
  std::string path = {};                   ///< of a file, as written; relative to the folder of the kernel file
  SourceLocation location = {};
};

/// A file with the expected elements of an output. Its path is like FillSpec::path.
struct AnswerFile {
  std::string path;
  SourceLocation location;
};

/// A field of a record: some numbers of one type, as in `float3 position` or `int id[2]`, or pointers.
struct RecordField {
  std::string name;
  ElementType type = ElementType::float32;
  int count = 1;           ///< of numbers
  std::size_t offset = 0;  ///< bytes from the beginning of the record
  bool is_bool = false;    ///< holds 0 or 1

  std::optional<FillSpec> fill = {};  ///< if not set, the fill of the buffer or Fill::by_default() holds
  std::string pointer = {};           ///< the type of a pointer, `float const*`; `type` is then uint64
};

/// Elements that are structs: their fields, laid out as C++ does.
struct RecordType {
  std::vector<RecordField> fields;
  std::size_t bytes = 0;  ///< of a record, including the padding at its end

  bool has_pointers() const;
};

enum class BufferRole {
  in,        ///< filled, never written by the kernel (checked)
  constant,  ///< filled; copied into the program's `__constant__` variable of this name; never an argument

  out,       ///< overwritten with wrong bytes before each verification, compared with the reference
  inout,     ///< filled before each verification, compared with the reference
  consumed,  ///< filled before each verification, not compared. The kernel may overwrite it (in-place reductions).
  scratch,   ///< uninitialised work space
  zeroed,    ///< zero before the first launch; the kernel leaves it zero (tickets)
};

struct BufferSpec {
  std::string name;
  BufferRole role = BufferRole::in;
  std::string type;                         ///< a type choice ("T"), a derived type or an element type name
  Expression count;                         ///< of `type`s; only scratch and zeroed buffers may use parameters
  std::optional<FillSpec> fill;             ///< of an input. If not set, Fill::by_default() holds.
  std::optional<AnswerFile> answer = {};    ///< of an output: it is compared with this file
  std::optional<Expression> compared = {};  ///< of an output: whether element `i` is compared; not set: all are

  int components = 1;  ///< how many `type`s make up one element as the file declares it: 4 for float4
  std::vector<std::string> component_names = {};  ///< of a struct's numbers. Otherwise `x y z w`, or their indices.
  std::string scope = {};                         ///< of a constant: the namespace of its variable, "convolution::"

  std::optional<RecordType> record = {};  ///< set for structs: `type` is then uint8, `components` their bytes
  std::string typed_neighbour = {};       ///< if it has no type: the buffer after it in its line that has one

  bool is_output() const { return role == BufferRole::out || role == BufferRole::inout; }
  bool is_work_space() const { return role == BufferRole::scratch || role == BufferRole::zeroed; }
  bool is_input() const { return role != BufferRole::out && !is_work_space(); }
};

/// For errors about the type of \p buffer: that the type in its line is another buffer's. Empty if there is none.
std::string about_its_line(const BufferSpec& buffer);

/// An argument through which a kernel reads or writes a buffer: `texture image = pixels[nx, ny] linear`, `surface to =
/// result[nx, ny]`. It shows a copy of the buffer, which is made before runs that are verified or timed. After a run
/// that is verified, the elements of a surface are copied back.
struct TextureSpec {
  std::string name;
  bool is_surface = false;
  std::string buffer;
  std::vector<Expression> extent;  ///< elements in x, y and z: one to three extents
  TextureReading reading = {};     ///< of a texture
  SourceLocation location;
};

/// An argument through which a kernel copies boxes of a buffer in bulk: `tensormap a = x[m, k] box rows, tile swizzle
/// 128B`, a CUtensorMap. It is made anew for each configuration and each address.
struct TensorMapSpec {
  std::string name;
  std::string buffer;
  std::size_t rank = 1;
  std::array<Expression, TensorMapShape::kNumbers> numbers;  ///< may use parameters; 0 where there is no dimension
  bool is_tf32 = false;
  bool fills_with_nan = false;
  SourceLocation location;
};

/// A number that the kernel file gives, or computes from sizes and choices: `2.5`, `nx * ny`. In a struct also the
/// address of a buffer.
struct ScalarValue {
  double number = 0;
  std::optional<Expression> computed = {};
  std::string address = {};  ///< the name of the buffer, or kNullPointer
  SourceLocation location = {};

  friend bool operator==(const ScalarValue& value, double other) {
    return !value.computed && value.address.empty() && value.number == other;
  }
};

/// A by-value argument that is not a size: `scalar alpha : float = 2`, `scalar at : float3 = { 0, 1, 2 }`. A struct may
/// have pointers: `scalar fields = { x, v, n }` with the buffers x and v.
struct ScalarSpec {
  std::string name;
  std::string type;                       ///< a type choice or an element type name
  std::optional<RecordType> record = {};  ///< set for structs: `type` is then uint8
  std::vector<ScalarValue> values;        ///< one, or those of a struct

  SourceLocation location = {};  ///< of the values
  bool only = false;             ///< results are for this value alone, see is_part_of_problem()
};

/// An argument that is a null pointer.
inline constexpr std::string_view kNullPointer = "nullptr";

/// A part of a C++ name that is computed: `{tile * 2}`, or the name of a `let`.
struct ComputedText {
  std::string text;  ///< as written
  Expression value;
  std::size_t at = 0;  ///< offset in `instantiate` of a text in braces
};

/// An argument that is computed: `tile * 2 : int64`.
struct ComputedArgument {
  std::string name;  ///< as in LaunchSpec::arguments
  Expression value;
  std::string type;  ///< a type choice, a derived type or an element type name
};

/// One kernel launch. A kernel may need several, in order, as two-launch reductions do.
struct LaunchSpec {
  std::string name;                          ///< for messages
  std::string instantiate;                   ///< as written: `sumMatrix2D<T, block_x, block_y>`; names get values later
  std::vector<ComputedText> computed_texts;  ///< those of `instantiate`
  /// In blocks, and in threads. Missing dimensions are 1.
  std::array<Expression, 3> grid{Expression::constant(1), Expression::constant(1), Expression::constant(1)};
  std::array<Expression, 3> block{Expression::constant(1), Expression::constant(1), Expression::constant(1)};
  Expression shared_bytes;  ///< dynamic shared memory
  /// Names of buffers, sizes, scalars, textures, tensor maps, parameters and `computed_arguments`, and kNullPointer.
  /// They are in order.
  std::vector<std::string> arguments;
  std::vector<SourceLocation> argument_locations;  ///< none for arguments that the kernel file leaves out
  std::vector<ComputedArgument> computed_arguments;
  std::optional<Expression> when;         ///< if false, there is no such launch
  std::optional<Expression> cooperative;  ///< if true, all blocks of the grid may wait for each other
  std::optional<Expression> untimed;      ///< if true, the launch is verified but not timed

  /// LaunchShape::cluster, of which missing dimensions are 1; LaunchShape::dependent and LaunchShape::carveout.
  std::optional<std::array<Expression, 3>> cluster;
  std::optional<Expression> dependent;
  std::optional<Expression> carveout;
  SourceLocation location;

  const ComputedArgument* find_computed(std::string_view argument) const {
    return find_named(computed_arguments, argument);
  }
};

/// An option of the compiler: `compile --maxrregcount={registers} when registers > 0`.
struct CompileOptionSpec {
  std::vector<std::variant<std::string, Expression>> parts;  ///< texts as written, and values
  std::optional<Expression> when;                            ///< if false, the option is left out
  SourceLocation location;

  /// The names in its values and its condition, perhaps with duplicates.
  std::vector<std::string> names() const;
};

/// A macro of the kernel: `define TILE = block * items`.
struct MacroSpec {
  std::string name;
  Expression value;  ///< the name of a parameter, choice, type or size, or an expression of them
  SourceLocation location;
};

/// A kernel file becomes one or two programs: its kernels and its reference.
enum class ProgramPart { kernel, reference };

/// A file whose text replaces the directive `source "matmul.cu"` in the program.
struct SourceFile {
  std::string path;  ///< relative to the same folder as ProgramSpec::file
  std::string text;  ///< as it was when the kernel file was read
  int line = 0;      ///< its text follows this line of the kernel file
  bool of_reference = false;
};

/// The origin of the results that are taken to be right.
enum class ReferenceKind {
  none,                   ///< the kernel file has none
  kernel,                 ///< separate kernels, which compute the outputs in the plainest way
  default_configuration,  ///< the kernel in its default configuration
  file,                   ///< BufferSpec::answer of every output
};
/// "kernel", "default configuration", "answer in a file"; empty for none.
std::string_view text(ReferenceKind kind);

/// Another problem on which every configuration is verified before it may win.
struct VerifySpec {
  std::map<std::string, std::int64_t> sizes;
  std::int64_t offset = 0;  ///< every input and output begins this many elements after an aligned address
  std::map<std::string, double> scalars = {};  ///< replace the values in the kernel file
};

/// The text of a kernel's programs, and how it is compiled.
struct ProgramSpec {
  std::string file;  ///< path of the kernel file
  std::string text;  ///< that of the kernel file
  /// Of both programs. A reference without sources is compiled from those of the kernel.
  std::vector<SourceFile> sources;
  /// Folders where `#include` looks before the compiler's: those of `sources`, then those of `include_path`.
  std::vector<std::string> include_paths;
  /// The files that program_text() includes, as they were when the kernel file was read; null: none were found.
  std::shared_ptr<const Includes> includes;
  std::shared_ptr<const Includes> reference_includes;  ///< the same for the reference, if it has its own sources
  std::vector<CompileOptionSpec> compile_options;
  std::vector<MacroSpec> macros;
};

/// The results that outputs are compared with, and how.
struct VerificationSpec {
  std::vector<LaunchSpec> reference;  ///< launches of ReferenceKind::kernel
  bool default_is_reference = false;  ///< ReferenceKind::default_configuration
  std::vector<VerifySpec> problems;
  std::optional<Tolerance> tolerance;     ///< if not set, it depends on the type: see tolerance_for()
  std::optional<Expression> accumulates;  ///< number of terms in one output element; widens the default tolerance
};

/// The work of one run, as far as the kernel file tells: for rates, the verdict and the start of a search.
struct WorkSpec {
  std::optional<Expression> bytes;  ///< the least traffic
  std::optional<Expression> flops;  ///< the least arithmetic
  /// Bytes that one thread asks memory for before it needs the first of them. May use parameters.
  std::optional<Expression> in_flight;
  /// The time of the run, or anything that grows with it. May use parameters, and numbers with a point.
  std::optional<Expression> estimate;
};

/// The values of a parameter or choice from which its other values were made. A value that is not here was made from
/// the one that is declared before it.
struct LadderSpec {
  std::string name;                           ///< of the parameter or choice
  std::map<std::string, std::string> parent;  ///< of values, as they are written
};

struct KernelSpec {
  std::string name;
  ProgramSpec program;
  std::vector<ChoiceSpec> choices;
  std::vector<DerivedTypeSpec> derived_types;
  std::vector<SizeSpec> sizes;
  SearchSpace space;
  std::vector<BufferSpec> buffers;
  std::vector<ScalarSpec> scalars;
  std::vector<TextureSpec> textures;
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<LaunchSpec> launches;
  /// Launched before every run, also of the reference, to set up the buffers that the run changes. Never timed. Served
  /// calls do without them, because there the caller sets up its buffers.
  std::vector<LaunchSpec> prepare;
  VerificationSpec verification;
  /// The callers' pointers are multiples of this many bytes; 1: only of the size of their elements.
  std::int64_t alignment = 1;
  WorkSpec work;
  std::vector<LadderSpec> ladders;
  /// Set if the kernels launch kernels themselves: the largest number of such launches that are pending at once. May
  /// use parameters.
  std::optional<Expression> device_launches;
  std::optional<Configuration> default_configuration;
  /// A search tries them after the default and before all else, in this order, where they are valid.
  std::vector<Configuration> seeds;

  /// With ReferenceKind::none, only the results of a recorded launch can verify the kernel.
  ReferenceKind reference_kind() const;
  /// Whether the expected results come from launches.
  bool has_reference_program() const {
    return reference_kind() == ReferenceKind::kernel || reference_kind() == ReferenceKind::default_configuration;
  }
  bool has_reference_sources() const;
  /// The first type choice, or null.
  const ChoiceSpec* type_choice() const;
  const ChoiceSpec* find_choice(std::string_view wanted) const { return find_named(choices, wanted); }
  const SizeSpec* find_size(std::string_view wanted) const { return find_named(sizes, wanted); }
  const BufferSpec* find_buffer(std::string_view wanted) const { return find_named(buffers, wanted); }
  const ScalarSpec* find_scalar(std::string_view wanted) const { return find_named(scalars, wanted); }
  const TextureSpec* find_texture(std::string_view wanted) const { return find_named(textures, wanted); }
  const TensorMapSpec* find_tensor_map(std::string_view wanted) const { return find_named(tensor_maps, wanted); }

  /// The arguments of \p launch, and after them the buffers that its structs and tensor maps point to.
  std::vector<std::string> taken_by(const LaunchSpec& launch) const;
};

}  // namespace tuner
