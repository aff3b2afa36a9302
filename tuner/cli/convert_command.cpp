#include <tuner/cli/convert_command.hpp>

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/convert/conversion.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {

int convert_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("OUT.cu"),
      "the kernel file, whose paths are relative to its folder; default: stdout, and this folder");
  add("force,f", po::bool_switch(), "replace what stands there");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"file..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune convert [options] FILE\n"
        "Writes a kernel file, directives beside the untouched kernel, from a T1 description (JSON), a Kernel Tuner\n"
        "script (.py), which is read, not run, or what Kernel Launcher has: a kernel with `#pragma kernel`, a "
        "captured\n"
        "launch (JSON), wisdom. What is left to finish by hand is listed on stderr and in the file.",
        options, "  tune convert convolution.json -o convolution.tuner.cu && tune --kernel convolution.tuner.cu\n");
  const Texts files = texts_of(given, "file");
  if (files.size() != 1) throw UsageError("convert reads one file: tune convert FILE [-o OUT.cu]");
  const std::string output = text_of(given, "output");
  const bool to_stdout = output.empty() || output == "-";
  if (to_stdout) refuse_options(given, {"force"}, "on standard output");
  if (!to_stdout) require_output(output, OutputKind::kernel_file, given["force"].as<bool>(), "--output");

  namespace fs = std::filesystem;
  const fs::path folder = to_stdout ? fs::current_path() : fs::absolute(output).parent_path();
  const convert::Conversion made = convert::convert_file(fs::absolute(files[0]), folder);
  if (!to_stdout) convert::require_other_file(output, files[0], made);
  if (to_stdout)
    print(made.text);
  else
    cache::write_text(output, made.text);
  for (const std::string& sentence : made.left) std::fprintf(stderr, "left: %s\n", printable_lines(sentence).c_str());
  if (!to_stdout)
    std::fprintf(
        stderr, "%s\n",
        fmt::format("{} written, {} left to finish by hand", output,
                    made.left.empty() ? "nothing" : plural(static_cast<std::int64_t>(made.left.size()), "thing"))
            .c_str());
  return kDone;
}

}  // namespace tuner::cli
