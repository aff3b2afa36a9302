#pragma once
/// A kernel as the readers of other formats fill it in, and the kernel file that comes of it. Internal to the room.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tuner/convert/conversion.hpp>
#include <tuner/convert/python.hpp>
#include <tuner/convert/translate.hpp>

namespace tuner::convert {

struct DraftParameter {
  std::string name;                 ///< of the macro
  std::vector<std::string> values;  ///< as kernel files write them
  std::optional<std::string> preset;
  bool is_macro = true;  ///< for the kernel; false: its text defines it
};

struct DraftArgument {
  enum class Role { in, out, inout, constant, size, scalar };
  Role role = Role::in;
  std::string name;
  std::string type = "float";         ///< an element type
  std::string count;                  ///< of a buffer
  std::string value;                  ///< of a size or scalar
  std::string fill;                   ///< what stands behind `fill NAME =`; empty: the default
  std::filesystem::path file;         ///< that fills it instead; empty: none
  std::filesystem::path answer = {};  ///< that has what the kernel should make of it; empty: none is known
  std::string answer_formula = {};    ///< what it should make of element i, in C++; empty: none is known
};

class KernelDraft {
 public:
  std::filesystem::path folder;  ///< of what it was made from
  std::string origin;            ///< what it was made from: "T1 file convolution.json"
  std::string kernel;            ///< the function, without its namespaces
  std::string instantiate;       ///< with template arguments; empty: `kernel`. Where it names none, in its namespaces
  std::filesystem::path source;
  std::string source_text;  ///< empty: could not be read
  bool is_inline = false;   ///< source_text is no file's: it goes into the kernel file
  python::Names constants;  ///< numbers that the original has names for
  std::vector<DraftParameter> parameters;
  bool parameters_are_macros = true;  ///< for the kernel, besides what `instantiate` and `macros` pass on
  std::vector<std::pair<std::string, std::string>> sizes;  ///< of the problem, with values
  std::vector<std::pair<std::string, std::string>> types;  ///< that the caller chooses, with their values
  std::vector<std::string> constraints;
  std::array<std::string, 3> block{"1", "1", "1"}, grid{"1", "1", "1"};
  std::string shared;
  std::vector<DraftArgument> arguments;
  std::vector<std::string> options;                         ///< of the compiler
  std::vector<std::string> include_paths;                   ///< relative to `folder`
  std::vector<std::pair<std::string, std::string>> macros;  ///< besides the parameters
  std::string tolerance;
  std::vector<std::string> left;

  /// The kernel from its C++ name, `geometry::scale<float>`.
  void set_kernel(const std::string& name);
  /// Something that is to be finished by hand.
  void leave(std::string sentence);
  /// A parameter from its values in Python. Those that a kernel file cannot have are left, with a sentence.
  void add_parameter(const std::string& name, const python::Constant& values);
  /// \p text as conditions, or left.
  void add_constraint(const python::Node& tree, const std::string& text);
  /// An expression, or \p otherwise with a sentence that says what \p what should have been.
  std::string expression(const std::string& text, const std::string& what, const std::string& otherwise);
  /// What names in expressions of the original stand for.
  Meaning meaning() const;
  /// Options of a compiler, as the original gives them.
  void add_option(const std::string& option);

  /// The text, with a configuration that is possible as its default and as the answer that others are compared with,
  /// and everything that is left. \p folder: see convert_file().
  Conversion finished(const std::filesystem::path& folder);

 private:
  std::string safe_name(const std::string& name) const;
  /// What an argument is called in the kernel file, where only its place says which one of the kernel it is.
  std::string safe_name(const DraftArgument& argument) const;
  std::string qualified_name() const;
  std::optional<std::vector<std::string>> find_default();
  bool knows_inputs() const;
  std::vector<std::pair<std::string, std::filesystem::path>> answers() const;
  std::vector<DraftArgument> computed_answers() const;
};

/// Reads \p draft.source, as far as it can be read.
void read_source(KernelDraft& draft);
/// Kernel Tuner defines more than the parameters: what of that the kernel's text names.
void add_kernel_tuner_macros(KernelDraft& draft);
/// Corrects what \p draft says of arguments and macros where the kernel's head, its body or the macros of its text say
/// otherwise, with a sentence for each: their order and number, element types, what is written, what is defined anew.
void agree_with_kernel(KernelDraft& draft);

/// The readers. Each throws tuner::Error.
KernelDraft read_t1(const std::string& text, const std::filesystem::path& file);
KernelDraft read_kernel_tuner_script(const std::string& text, const std::filesystem::path& file);
/// Of Kernel Launcher: a captured launch (JSON), a wisdom file (a line of JSON for each result), annotated kernels.
KernelDraft read_launcher_capture(const std::string& text, const std::filesystem::path& file);
KernelDraft read_launcher_wisdom(const std::string& text, const std::filesystem::path& file);
/// Nothing where \p text has no such annotations.
std::optional<KernelDraft> read_launcher_pragmas(const std::string& text, const std::filesystem::path& file);

/// `float` for a type of T1, NumPy or C, with how many of it make one element; nothing for what is no element type.
struct DraftType {
  std::string name;
  int count = 1;
};
std::optional<DraftType> element_type(const std::string& name);
/// Whether \p text can stand in a line of a kernel file: no line ends, quotes, backslashes.
bool is_plain(const std::string& text);
/// Throws Error when \p text, from \p file, is not plain.
void require_plain(const std::string& text, const std::filesystem::path& file);
/// A number as kernel files write it.
std::string number_text(double value);

}  // namespace tuner::convert
