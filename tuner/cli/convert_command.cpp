#include <tuner/cli/program.hpp>

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/convert/conversion.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

int run_convert(const Given& given) {
  const Texts files = given.texts("file");
  if (files.size() != 1) throw UsageError("convert reads one file: tune convert FILE [-o OUT.cu]");
  const std::string output = given.has("output") ? given.text("output") : "-";
  require_output_or_stdout(given, output, OutputKind::kernel_file, "--output");

  namespace fs = std::filesystem;
  const bool to_stdout = output == "-";
  const fs::path folder = to_stdout ? fs::current_path() : fs::absolute(output).parent_path();
  const convert::Conversion made = files[0] == "-" ? convert::convert_text(standard_input(), "standard input", folder)
                                                   : convert::convert_file(fs::absolute(files[0]), folder);
  if (!to_stdout) convert::require_other_file(output, files[0], made);
  write_or_print(output, made.text);
  for (const std::string& sentence : made.left) std::fprintf(stderr, "left: %s\n", printable_lines(sentence).c_str());
  if (!to_stdout)
    std::fprintf(
        stderr, "%s\n",
        fmt::format("{} written, {} left to finish by hand", output,
                    made.left.empty() ? "nothing" : plural(static_cast<std::int64_t>(made.left.size()), "thing"))
            .c_str());
  return kDone;
}

}  // namespace

Command convert_command() {
  Options options(
      "Usage: tune convert FILE [-o OUT.cu] [--force]\n"
      "Writes a kernel file, directives beside the untouched kernel, from a T1\n"
      "description (JSON), a Kernel Tuner script (.py), which is read, not run, or\n"
      "files of Kernel Launcher: a kernel with `#pragma kernel`, a captured launch\n"
      "(JSON), wisdom. Its paths are relative to the folder of OUT.cu, or to this one.\n"
      "The parts that have to be finished by hand are listed on stderr and in the file.",
      "  tune convert convolution.json -o convolution.tuner.cu\n");
  options.add("output force").arguments({"file..."});
  return {options, run_convert};
}

}  // namespace tuner::cli
