#pragma once
/// A kernel that the readers of other formats fill in, and the kernel file made from it. Internal to the room.

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
  std::string name;                 ///< name of the macro
  std::vector<std::string> values;  ///< in the spelling of kernel files
  std::optional<std::string> preset;
  bool is_macro = true;  ///< the kernel gets a macro; false: its text defines the name
};

struct DraftArgument {
  enum class Role { in, out, inout, constant, size, scalar };
  Role role = Role::in;
  std::string name;
  std::string type = "float";         ///< an element type.
  std::string count;                  ///< elements of a buffer.
  std::string value;                  ///< of a size or scalar.
  std::string fill;                   ///< the text after `fill NAME =`; empty: the default.
  std::filesystem::path file;         ///< a file that fills it instead; empty: none.
  std::filesystem::path answer = {};  ///< a file with the expected result; empty: unknown.
  std::string answer_formula = {};    ///< expected value of element i, in C++; empty: unknown.
};

class KernelDraft {
 public:
  std::filesystem::path folder;  ///< of the original
  std::string origin;            ///< describes the original: "T1 file convolution.json"
  std::string kernel;            ///< the function, without its namespaces
  std::string instantiate;       ///< with template arguments and, if `kernel` lacks them, namespaces; empty: `kernel`
  std::filesystem::path source;
  std::string source_text;  ///< empty: unreadable
  bool is_inline = false;   ///< the kernel file must contain source_text, which no file has
  python::Names constants;  ///< named numbers of the original
  std::vector<DraftParameter> parameters;
  bool parameters_are_macros = true;  ///< the kernel gets them as macros, besides `instantiate` and `macros`
  std::vector<std::pair<std::string, std::string>> sizes;  ///< of the problem, with values
  std::vector<std::pair<std::string, std::string>> types;  ///< types that the caller chooses, with their values
  std::vector<std::string> constraints;
  std::array<std::string, 3> block{"1", "1", "1"}, grid{"1", "1", "1"};
  std::string shared;
  std::vector<DraftArgument> arguments;
  std::vector<std::string> options;                         ///< for the compiler
  std::vector<std::string> include_paths;                   ///< relative to `folder`
  std::vector<std::pair<std::string, std::string>> macros;  ///< besides the parameters
  std::string tolerance;
  std::vector<std::string> left;

  /// Sets the kernel from its C++ name, `geometry::scale<float>`.
  void set_kernel(const std::string& name);
  /// Adds a sentence about something that a person must finish.
  void leave(std::string sentence);
  /// Adds a parameter with values in Python. Leaves out, with a sentence, values that kernel files cannot have.
  void add_parameter(const std::string& name, const python::Constant& values);
  /// Adds \p text as conditions, or leaves it out with a sentence.
  void add_constraint(const python::Node& tree, const std::string& text);
  /// An expression; if it cannot be translated, \p otherwise and a sentence that names \p what.
  std::string expression(const std::string& text, const std::string& what, const std::string& otherwise);
  /// The meaning of names in the original's expressions.
  Meaning meaning() const;
  /// Adds a compiler option in the original's spelling.
  void add_option(const std::string& option);

  /// The kernel file, with everything that is left. A possible configuration becomes the default and the reference for
  /// the others. \p folder: see convert_file().
  Conversion finished(const std::filesystem::path& folder);

 private:
  /// The name of an argument in the kernel file, where only the order identifies it.
  std::string safe_name(const DraftArgument& argument) const;
  std::string qualified_name() const;
  std::optional<std::vector<std::string>> find_default();
  bool knows_inputs() const;
  std::vector<std::pair<std::string, std::filesystem::path>> answers() const;
  std::vector<DraftArgument> computed_answers() const;
};

/// Reads \p draft.source; leaves source_text empty if that fails.
void read_source(KernelDraft& draft);
/// Adds the other macros that Kernel Tuner defines, if the kernel's text uses them.
void add_kernel_tuner_macros(KernelDraft& draft);
/// Corrects \p draft where the kernel's head, its body or the macros of its text contradict it. Corrects order and
/// number of arguments, element types, written buffers and redefined macros, with a sentence for each.
void agree_with_kernel(KernelDraft& draft);

/// The readers. All throw tuner::Error.
KernelDraft read_t1(const std::string& text, const std::filesystem::path& file);
KernelDraft read_kernel_tuner_script(const std::string& text, const std::filesystem::path& file);
/// For Kernel Launcher: a captured launch (JSON), a wisdom file (a line of JSON for each result), annotated kernels.
KernelDraft read_launcher_capture(const std::string& text, const std::filesystem::path& file);
KernelDraft read_launcher_wisdom(const std::string& text, const std::filesystem::path& file);
/// nullopt if \p text has no such annotations.
std::optional<KernelDraft> read_launcher_pragmas(const std::string& text, const std::filesystem::path& file);

/// An element type, such as `float`, for a type of T1, NumPy or C, and how many of it make one element; else nullopt.
struct DraftType {
  std::string name;
  int count = 1;
};
std::optional<DraftType> element_type(const std::string& name);
/// Whether \p text may appear in a line of a kernel file: it has no line ends, quotes or backslashes.
bool is_plain(const std::string& text);
/// Throws Error when \p text, from \p file, is not plain.
void require_plain(const std::string& text, const std::filesystem::path& file);
/// A number in the spelling of kernel files.
std::string number_text(double value);

}  // namespace tuner::convert
