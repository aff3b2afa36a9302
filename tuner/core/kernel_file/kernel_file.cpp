#include <tuner/core/kernel_file/kernel_file.hpp>

#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/expression_parser.hpp>
#include <tuner/core/kernel_file/directive_lines.hpp>
#include <tuner/core/kernel_file/kernel_reader.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

std::vector<Directive> all_directives() {
  std::vector<Directive> all;
  for (const auto& some : {name_directives(), data_directives(), program_directives()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// The lines that may have been meant, for the message that one is missing.
std::string ignored_lines(const KernelSpec& spec) {
  std::string all;
  for (const std::string& one : ignored_directives(spec)) all += '\n' + one;
  return all;
}

void read_directive(KernelReader& kernel, TokenCursor& cursor) {
  static const std::vector<Directive> all = all_directives();
  if (!cursor.at_identifier()) cursor.fail("expected a directive after '#pragma tuner', not " + cursor.described());
  kernel.directive = cursor.take();
  kernel.directive_place = cursor.place(kernel.directive);
  const std::string_view name = kernel.directive.text;
  const Directive* const known = find_named(all, name);
  if (known == nullptr)
    throw SpecError(kernel.directive_place, "unknown directive " + in_quotes(name) + suggestion(name, names_of(all)));
  if (kernel.spec.name.empty() && name != "kernel")
    throw SpecError(kernel.directive_place, "'kernel NAME' must be the first directive" + ignored_lines(kernel.spec));
  known->read(kernel, cursor);
  if (!cursor.at_end()) cursor.fail("unexpected " + cursor.described() + " after " + in_quotes(name));
}

/// In other languages `//` divides. After an expression it therefore starts a comment only if the comment does not
/// begin like an operand.
void require_comment(const KernelReader& kernel, const LogicalLine& line) {
  const LogicalLine comment = LogicalLine::from(line.comment, {});
  const TokenCursor cursor(comment);
  const bool operand = cursor.at_number() || cursor.peek().is("(") || cursor.peek().is("-") ||
                       (cursor.at_identifier() &&
                        (kernel.draft.names.contains(cursor.peek().text) || is_function_name(cursor.peek().text)));
  if (!operand) return;
  throw SpecError({kernel.spec.program.file, line.comment_at.line, line.comment_at.column},
                  "'//' starts a comment, but " + cursor.described() +
                      " reads like the rest of the expression: integer division is '/'; a comment after an "
                      "expression cannot begin with a number, a bracket or a name of this file");
}

/// \p constants: names of the text that expressions may use.
KernelDraft read_directives(std::string_view text, std::string file_name, std::vector<SourceFile> sources,
                            const Substitutions& constants = {}) {
  KernelReader kernel;
  kernel.draft.lets = constants;
  kernel.known_sources = std::move(sources);
  kernel.spec.program.file = std::move(file_name);
  kernel.spec.program.text = without_byte_order_mark(text);
  const std::vector<LogicalLine> lines = find_directives(kernel.spec.program.text, kernel.spec.program.file);
  std::vector<const LogicalLine*> commented;  // with an expression before the comment
  for (const LogicalLine& line : lines) {
    TokenCursor cursor(line);
    cursor.expect("pragma", "'#'");
    cursor.expect("tuner", "'pragma'");
    const std::size_t expressions = kernel.draft.expressions.size();
    read_directive(kernel, cursor);
    if (line.comment_at.line != 0 && kernel.draft.expressions.size() > expressions) commented.push_back(&line);
  }
  for (const LogicalLine* line : commented) require_comment(kernel, *line);
  if (kernel.spec.name.empty())
    throw SpecError(
        {kernel.spec.program.file, 1, 1},
        std::string(
            "no kernel: a kernel file starts with '#pragma tuner kernel NAME'; `tune init` writes a first one") +
            ignored_lines(kernel.spec));
  return std::move(kernel.draft);
}

}  // namespace

KernelSpec parse_kernel_file(std::string_view text, std::string file_name, std::vector<SourceFile> sources) {
  KernelDraft draft = read_directives(text, file_name, std::move(sources));
  find_texts(draft, Validation::required);
  if (const Substitutions constants = constants_of(draft); !constants.empty()) {
    KernelDraft with_constants = read_directives(text, std::move(file_name), draft.spec.program.sources, constants);
    take_texts(with_constants, std::move(draft));
    draft = std::move(with_constants);
  }
  return finish(std::move(draft));
}

std::vector<std::string> ignored_directives(const KernelSpec& spec) {
  return misspelt_directives(spec.program.text, spec.program.file);
}

KernelSpec parse_built_in_kernel_file(std::string_view text, std::string file_name) {
  KernelDraft draft = read_directives(text, std::move(file_name), {});
  find_texts(draft, Validation::already_done);
  return finish(std::move(draft), Validation::already_done);
}

KernelSpec read_kernel_file(const std::filesystem::path& path) {
  return parse_kernel_file(read_input_file(path, kMaxKernelFileBytes, "kernel file"), path.string());
}

}  // namespace tuner
