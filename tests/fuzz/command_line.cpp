/// libFuzzer: any lines are the arguments of a command, or a UsageError: the options themselves, and each kind of value
/// that options have. What is accepted is in its range.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <tuner/cli/input/options.hpp>
#include <tuner/cli/input/problems.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

namespace {

using namespace tuner;

const KernelSpec& kernel() {
  static const KernelSpec spec = parse_kernel_file(
      "#pragma tuner kernel k\n#pragma tuner type T = float double\n#pragma tuner choice operation = sum max\n"
      "#pragma tuner size n : int = 4096\n#pragma tuner size m = 3\n#pragma tuner parameter b = 32 64\n#pragma tuner "
      "block b\n"
      "#pragma tuner grid ceil_div(n, b)\n#pragma tuner out c[n] : T\n#pragma tuner arguments c, n\n"
      "#pragma tuner instantiate k<T, b>\n#pragma tuner reference r<T>\n#pragma tuner bytes n * sizeof(T)\n"
      "#pragma tuner default b=32\n",
      "k.cu");
  return spec;
}

void values_of(const std::string& text) {
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const cli::UsageError&) {
    }
  };
  const auto must = [](bool holds) {
    if (!holds) __builtin_trap();
  };
  attempt([&] { must(cli::parse_count(text, "--count") >= 0); });
  attempt([&] { must(cli::parse_duration(text, "--budget").count() > 0); });
  attempt([&] {
    const double number = cli::parse_number(text, "--until-unlikely", 0, 1);
    must(number >= 0 && number <= 1);
  });
  attempt([&] {
    for (const auto& [name, size] : cli::parse_sizes(text, "--size")) must(!name.empty() && size >= 0);
  });
  attempt([&] { cli::parse_assignments(text, "--choice"); });
  attempt([&] { cli::split_words(text, "list:1"); });
  for (const std::string& part : cli::split({text}, ',')) must(!part.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  std::vector<std::string> texts;
  for (std::string line; std::getline(lines, line, '\n') && texts.size() < 31;) {
    line.erase(std::find(line.begin(), line.end(), '\0'), line.end());  // as the system passes arguments
    values_of(line);
    texts.push_back(line);
  }
  cli::Options options;
  options.texts("size", "", "").texts("type", "", "").texts("choice", "", "").flag("quiet", "").text("trials", "", "");
  options.arguments({"file", "more..."});
  try {
    const cli::Given given = options.read(texts);
    const cli::ProblemOptions problems{given.texts("size"), given.texts("type"), given.texts("choice")};
    if (problems.sizes.size() + problems.types.size() + problems.choices.size() > 12) return 0;
    cli::select_problems(kernel(), problems, {});
  } catch (const cli::UsageError&) {
  }
  return 0;
}
