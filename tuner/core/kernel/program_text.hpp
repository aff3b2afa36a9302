#pragma once
/// The text of the programs that a kernel file becomes.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct KernelSpec;
struct MacroSpec;
enum class ProgramPart;

/// \p text without its own definitions of \p macros, which get their values from the configuration; lines keep their
/// places.
std::string without_definitions(std::string text, const std::vector<MacroSpec>& macros);
/// The text of a program: the kernel file with the text of each `source` in its place, without_definitions() of the
/// kernel's macros. Compilers number lines as in the files.
std::string program_text(const KernelSpec& spec, ProgramPart part);
/// That of the kernel.
std::string program_text(const KernelSpec& spec);
/// The program_text() with the definitions of its macros.
std::string whole_text(const KernelSpec& spec, ProgramPart part);
/// False if neither that program nor the files that it includes have \p word.
bool may_occur(const KernelSpec& spec, ProgramPart part, std::string_view word);
/// Why earlier results may be of another text than that of \p spec, whose headers cannot be known. Null if they can. A
/// tuning of such a kernel uses no earlier results.
const std::string* unknown_headers(const KernelSpec& spec);

}  // namespace tuner
