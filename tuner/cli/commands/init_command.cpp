#include <tuner/cli/commands/program.hpp>

#include <fmt/ranges.h>  // join, since fmt 11

#include <tuner/cli/print/output_file.hpp>
#include <tuner/convert/first_file.hpp>
#include <tuner/core/values/input_file.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_without_kernel(const std::string& text, const std::string& file) {
  std::vector<std::string> others = convert::included_files_with_kernels(text, fs::absolute(file));
  for (std::string& path : others) path = printable(fs::path(path).lexically_proximate(fs::current_path()).string());
  throw Error(fmt::format(
      "{}: no __global__ function is in it{}{}", printable(file),
      others.empty() ? "" : "; a file that it includes has some, so name that one: ", listed(others, ", ")));
}

/// \p name, or the only kernel of \p text. Throws for any other; \p file names the text.
std::string chosen_name(const std::string& text, const std::string& name, const std::string& file) {
  const std::vector<std::string> names = convert::kernels_of(text);
  if (names.empty()) fail_without_kernel(text, file);
  if (name.empty() && names.size() > 1)
    throw UsageError("{} has several kernels: name one of them, {}", printable(file), fmt::join(names, ", "));
  if (name.empty()) return names.front();
  require_known("kernel of " + printable(file), name, names);
  return name;
}

int run_init(const Given& given) {
  const Texts words = given.texts("file");
  if (words.empty() || words.size() > 2)
    throw UsageError("init reads one source: tune init FILE.cu [NAME] [-o OUT.cu]");
  const std::string output = given.has("output") ? given.text("output") : "-";
  require_output_or_stdout(given, output, OutputKind::kernel_file, "--output");
  const fs::path source = fs::absolute(words[0]);
  std::error_code none;
  if (output != "-" && fs::equivalent(source, output, none))
    throw UsageError("--output is the source itself: name another file");
  const std::string text = read_input_file(source, kMaxKernelFileBytes, "source");
  const std::string kernel = chosen_name(text, words.size() > 1 ? words[1] : "", words[0]);
  const fs::path folder = output == "-" ? fs::current_path() : fs::absolute(output).parent_path();
  const convert::FirstFile made = convert::first_file(text, kernel, source, folder);
  if (write_or_print(output, made.text))
    Console(stderr, false)
        .line("{} written, with {}; then: tune check {}", output, plural(made.questions.size(), "question"),
              shell_word(output));
  return kDone;
}

}  // namespace

Command init_command() {
  return {Options("Usage: tune init FILE.cu [NAME] [-o OUT.cu] [--force]\n"
                  "Writes a kernel file beside an untouched source, for its kernel NAME: buffers,\n"
                  "scalars and sizes from the kernel's arguments, the block's shape as parameters,\n"
                  "and questions in comments about what they leave open.",
                  "  tune init saxpy.cu saxpy -o saxpy.tuner.cu\n"
                  "  tune check ./saxpy.tuner.cu\n")
              .add("output force")
              .arguments({"file..."}),
          run_init};
}

}  // namespace tuner::cli
