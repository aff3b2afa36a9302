#include <tuner/convert/shorter.hpp>

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tuner::convert {
namespace {

/// Everything that the removable lines determine.
std::string meaning_of(const KernelSpec& spec) {
  std::string all;
  for (const LaunchSpec& launch : spec.launches) {
    all += fmt::format("{}({})", launch.instantiate, fmt::join(launch.arguments, ","));
    for (const ComputedArgument& one : launch.computed_arguments) all += fmt::format(" {}:{}", one.name, one.type);
    for (const Expression& extent : launch.block) all += ' ' + extent.text();
    all += '\n';
  }
  for (const BufferSpec& buffer : spec.buffers)
    all += fmt::format("{}:{}*{}\n", buffer.name, buffer.type, buffer.components);
  std::set<std::string> macros;  // sorted, without unused ones
  for (const MacroSpec& one : spec.program.macros)
    if (may_occur(spec, ProgramPart::kernel, one.name)) macros.insert(one.name + '=' + one.value.text());
  return all + fmt::format("{}", fmt::join(macros, " "));
}

}  // namespace

std::string without_what_its_kernel_says(const std::string& text,
                                         const std::function<KernelSpec(const std::string&)>& read) {
  const std::string meaning = meaning_of(read(text));
  std::string result = text;
  // `instantiate` goes first: without it, more macros are implied.
  for (const char* directive : {"instantiate", "define", "block", "arguments"}) {
    const std::size_t begin = result.find(fmt::format("\n#pragma tuner {} ", directive));
    if (begin == std::string::npos || begin > result.find("\n#pragma tuner reference ")) continue;
    std::string shorter = result;
    shorter.erase(begin, result.find('\n', begin + 1) - begin);
    try {
      if (meaning_of(read(shorter)) == meaning) result = std::move(shorter);
    } catch (const Error&) {  // the kernel does not imply it
    }
  }
  return result;
}

}  // namespace tuner::convert
