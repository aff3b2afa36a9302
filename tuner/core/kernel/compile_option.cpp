#include <tuner/core/kernel/compile_option.hpp>

#include <algorithm>
#include <array>

#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::string_view kHeaders =
    "would find headers whose changes tuner does not see: write the directive include_path \"FOLDER\"";
constexpr std::string_view kMacro = "is a separate directive: 'define NAME = EXPRESSION'";
constexpr std::string_view kReads = "would read a file whose changes tuner does not see: write its options here";
constexpr std::string_view kInput =
    "takes an option of the assembler, as in -Xptxas=-O1: a name would be a file to read";
struct Refused {
  std::string_view why;
  std::array<std::string_view, 5> names;
};
constexpr Refused kRefused[] = {
    {"is set by tuner, which compiles for the device that runs the kernel", {"arch", "gpu-architecture"}},
    {"is c++17, or c++20 if a kernel needs it: --std=c++20", {"std"}},
    {"is set by tuner: write 'device_launches' if kernels launch kernels",
     {"rdc", "relocatable-device-code", "dc", "device-c"}},
    {"leaves no machine code to run", {"dlto", "dlink-time-opt", "lto", "gen-opt-lto", "optix-ir"}},
    {kHeaders, {"include-path", "include", "pre-include"}},
    {kMacro, {"define-macro", "undefine-macro"}},
    {"is not needed: tuner precompiles headers if that pays", {"pch", "create-pch", "use-pch"}},
    {"would have every compile write a file", {"time", "fdevice-time-trace"}},
};

constexpr std::array<std::string_view, 12> kOfTheKernelAlone{
    "G",        "device-debug", "dopt", "maxrregcount", "use_fast_math", "ftz",
    "prec-div", "prec-sqrt",    "fmad", "Xptxas",       "ptxas-options", "Ofast-compile"};

bool is_one_dash(std::string_view text) { return text.starts_with('-') && !text.starts_with("--"); }

}  // namespace

std::string_view option_name(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
  return text.substr(0, text.find('='));
}

std::string why_refused(std::string_view text) {
  const std::string_view name = option_name(text);
  if (is_one_dash(text) && name.starts_with('I')) return std::string(kHeaders);
  if (is_one_dash(text) && (name.starts_with('D') || name.starts_with('U'))) return std::string(kMacro);
  for (const char* const file : {"options-file", "-optf"})  // of the assembler too: -Xptxas=--options-file=FILE
    if (text.find(file) != std::string_view::npos) return std::string(kReads);
  if ((name == "Xptxas" || name == "ptxas-options") && !text.substr(text.find('=') + 1).starts_with('-'))
    return std::string(kInput);
  if (language_in(text) == "c++17" || language_in(text) == "c++20") return "";
  const auto has_it = [&](const Refused& one) { return !name.empty() && contains(one.names, name); };
  const auto* const refused = std::ranges::find_if(kRefused, has_it);
  return std::string(refused != std::end(kRefused) ? refused->why : "");
}

bool belongs_to_reference(std::string_view text) { return !contains(kOfTheKernelAlone, option_name(text)); }

std::string_view language_in(std::string_view text) {
  return option_name(text) == "std" ? text.substr(text.find('=') + 1) : std::string_view();
}

bool is_device_debug(std::string_view text) {
  const std::string_view name = option_name(text);
  return name == "G" || name == "device-debug";
}

}  // namespace tuner
