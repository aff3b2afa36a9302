#include <tuner/core/kernel_file.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/definitions.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/kernel_reader.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

std::vector<Directive> all_directives() {
  std::vector<Directive> all;
  for (const auto& some : {name_directives(), data_directives(), launch_directives(), program_directives()})
    all.insert(all.end(), some.begin(), some.end());
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
    throw SpecError(kernel.directive_place, "'kernel NAME' must be the first directive");
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

/// The value that the texts of \p spec give \p parameter by their only definition of it.
std::optional<Value> defined_value(const KernelSpec& spec, const TuningParameter& parameter) {
  const MacroSpec* const macro = find_named(spec.program.macros, parameter.name);
  if (macro == nullptr) return std::nullopt;
  std::vector<std::string> values;
  const auto look = [&](const std::string& text) {
    for (DefinedValue& one : definitions_of(code_of(text), parameter.name)) values.push_back(std::move(one.value));
  };
  look(spec.program.text);
  for (const SourceFile& file : spec.program.sources)
    if (!file.of_reference) look(file.text);
  const auto is_value = [&](const Value& one) { return values.size() == 1 && one.text() == values.front(); };
  const auto at = std::find_if(parameter.values.begin(), parameter.values.end(), is_value);
  return at == parameter.values.end() ? std::nullopt : std::optional(*at);
}

/// Completes the default with the values that the kernel's text defines. Without a `default`, all must be defined.
void complete_default(KernelReader& kernel) {
  const bool is_given = kernel.spec.default_configuration.has_value();
  Configuration values = kernel.spec.default_configuration.value_or(Configuration{});
  for (const TuningParameter& parameter : kernel.draft.parameters) {
    if (values.find(parameter.name) != nullptr) continue;
    const auto value = defined_value(kernel.spec, parameter);
    if (!value && !is_given) return;
    if (!value) continue;
    values.set(parameter.name, *value);
    kernel.draft.default_places[parameter.name] = find_named(kernel.spec.program.macros, parameter.name)->location;
  }
  if (is_given || !kernel.draft.parameters.empty()) kernel.spec.default_configuration = std::move(values);
}

KernelDraft read_directives(std::string_view text, std::string file_name, std::vector<SourceFile> sources) {
  KernelReader kernel;
  kernel.known_sources = std::move(sources);
  kernel.spec.program.file = std::move(file_name);
  kernel.spec.program.text = without_byte_order_mark(text);
  const std::vector<LogicalLine> lines = find_directives(kernel.spec.program.text, kernel.spec.program.file);
  std::vector<const LogicalLine*> commented;  // with an expression before the comment
  for (const LogicalLine& line : lines) {
    TokenCursor cursor(line);
    const std::size_t expressions = kernel.draft.expressions.size();
    read_directive(kernel, cursor);
    if (line.comment_at.line != 0 && kernel.draft.expressions.size() > expressions) commented.push_back(&line);
  }
  for (const LogicalLine* line : commented) require_comment(kernel, *line);
  if (kernel.spec.name.empty())
    throw SpecError({kernel.spec.program.file, 1, 1},
                    "no kernel: a kernel file starts with '#pragma tuner kernel NAME'; `tune init` writes a first one");
  complete_default(kernel);
  return std::move(kernel.draft);
}

}  // namespace

KernelSpec parse_kernel_file(std::string_view text, std::string file_name, std::vector<SourceFile> sources) {
  return finish(read_directives(text, std::move(file_name), std::move(sources)));
}

KernelSpec parse_built_in_kernel_file(std::string_view text, std::string file_name) {
  return finish(read_directives(text, std::move(file_name), {}), Judged::before);
}

KernelSpec read_kernel_file(const std::filesystem::path& path) {
  return parse_kernel_file(read_input_file(path, kMaxKernelFileBytes, "kernel file"), path.string());
}

}  // namespace tuner
