#include <tuner/core/kernel_file.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/directives.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/kernel_draft.hpp>
#include <tuner/core/literals.hpp>
#include <tuner/core/names.hpp>
#include <tuner/core/token.hpp>

namespace tuner {
namespace {

// Far more than anybody writes; what is done with them takes well under a second.
constexpr std::size_t kMostValues = 65535;  // of all parameters and choices
constexpr std::size_t kMostParameters = 128;
constexpr std::size_t kMostConstraints = 256;
constexpr std::size_t kMostOperations = 1'000'000;

/// Reads the directives one by one. What a single line can get wrong is found here; what needs the whole file is left
/// to finish(), which is told where everything was written.
class KernelFileParser {
 public:
  KernelFileParser(std::string_view text, std::string file) {
    spec_.file = std::move(file);
    spec_.source = text;
  }

  KernelSpec parse() {
    const std::vector<LogicalLine> lines = find_directives(spec_.source, spec_.file);
    for (const LogicalLine& line : lines) directive(line);
    for (const LogicalLine* line : commented_) require_comment(*line);
    if (spec_.name.empty())
      throw SpecError({spec_.file, 1, 1}, "no kernel: a kernel file starts with '#pragma tuner kernel NAME'");
    return finish(std::move(draft_));
  }

 private:
  using Handler = void (KernelFileParser::*)(TokenCursor&);
  struct Directive {
    std::string_view name;
    Handler read;
  };
  static const std::array<Directive, 34> kDirectives;

  void directive(const LogicalLine& line) {
    TokenCursor cursor(line);
    if (!cursor.at_identifier()) cursor.fail("expected a directive after '#pragma tuner', not " + cursor.described());
    directive_ = cursor.take();
    directive_place_ = cursor.place(directive_);
    const auto at = std::find_if(kDirectives.begin(), kDirectives.end(),
                                 [&](const Directive& d) { return d.name == directive_.text; });
    if (at == kDirectives.end()) {
      std::vector<std::string> names;
      for (const Directive& candidate : kDirectives) names.emplace_back(candidate.name);
      throw SpecError(directive_place_,
                      "unknown directive " + in_quotes(directive_.text) + suggestion(directive_.text, names));
    }
    if (spec_.name.empty() && at->name != "kernel")
      throw SpecError(directive_place_, "'kernel NAME' must be the first directive");
    const std::size_t expressions = draft_.expressions.size();
    (this->*at->read)(cursor);
    if (line.comment_at.line != 0 && draft_.expressions.size() > expressions) commented_.push_back(&line);
    if (!cursor.at_end()) cursor.fail("unexpected " + cursor.described() + " after " + in_quotes(at->name));
  }

  /// In other languages `//` divides: behind an expression it starts a comment only where what follows cannot be meant
  /// as an operand.
  void require_comment(const LogicalLine& line) const {
    const LogicalLine comment = LogicalLine::from(line.comment, {});
    const TokenCursor cursor(comment);
    const bool operand = cursor.at_number() || cursor.peek().is("(") || cursor.peek().is("-") ||
                         (cursor.at_identifier() && (declared_.count(std::string(cursor.peek().text)) != 0 ||
                                                     is_function_name(cursor.peek().text)));
    if (!operand) return;
    throw SpecError({spec_.file, line.comment_at.line, line.comment_at.column},
                    "'//' starts a comment, but " + cursor.described() +
                        " reads like the rest of the expression: integer division is '/'; a comment behind an "
                        "expression cannot begin with a number, a bracket or a name of this file");
  }

  // --- what the directives share ---

  std::string after(std::string_view what) const {
    return std::string(what) + " of '" + std::string(directive_.text) + "'";
  }

  void once(const std::string& key) {
    const auto [at, is_new] = given_.emplace(key, directive_place_);
    if (!is_new)
      throw SpecError(directive_place_,
                      "a second " + in_quotes(key) + "; the first is in line " + std::to_string(at->second.line));
  }

  /// Takes the name of a new thing.
  std::string declare(TokenCursor& cursor, std::string_view what, bool in_expressions) {
    const Token token = cursor.expect_identifier("the name of a " + std::string(what));
    const SourceLocation place = cursor.place(token);
    const std::string name(token.text);
    if (in_expressions || is_reserved_word(name)) {
      const std::string problem = name_problem(name);
      if (!problem.empty()) throw SpecError(place, problem + " and cannot name a " + std::string(what));
    }
    const auto [at, is_new] = declared_.emplace(name, what);
    if (!is_new) {
      throw SpecError(place, in_quotes(name) + " is already the name of a " + at->second + " (line " +
                                 std::to_string(places_.at(name).line) + ")");
    }
    places_[name] = place;
    return name;
  }

  Expression expression(TokenCursor& cursor, std::string_view closing = "]") {
    Expression result = ExpressionAccess::parse(cursor, draft_.lets);
    if (!cursor.at_end() && !cursor.peek().is(",") && !cursor.peek().is(closing)) {
      cursor.fail("expected an operator or the end of the expression, not " + cursor.described());
    }
    operations_ += ExpressionAccess::root(result)->count;
    if (operations_ > kMostOperations)
      throw SpecError(result.location(), "the expressions of this file are too large: more than " +
                                             std::to_string(kMostOperations) + " operations, 'let's counted as text");
    draft_.expressions.push_back(result);
    return result;
  }

  /// `= VALUE VALUE …` to the end of the line, each once.
  std::vector<Value> values(TokenCursor& cursor, const std::string& name) {
    cursor.expect("=", "the name");
    if (cursor.at_end()) cursor.fail(in_quotes(name) + " has no values");
    std::vector<Value> result;
    std::set<Value> seen;
    while (!cursor.at_end()) {
      const SourceLocation place = cursor.place();
      if (++values_ > kMostValues)
        throw SpecError(place, "more than " + std::to_string(kMostValues) + " values in one kernel");
      Value next = parse_value(cursor);
      if (!seen.insert(next).second) throw SpecError(place, in_quotes(next.text()) + " is given twice");
      places_[name + "=" + next.text()] = place;
      result.push_back(std::move(next));
    }
    return result;
  }

  /// The name of a type; of an element type its canonical one.
  std::string type_name(TokenCursor& cursor, const std::string& key) {
    const Token token = cursor.expect_identifier("the name of a type");
    places_[key] = cursor.place(token);
    const auto type = element_type(token.text);
    return std::string(type ? info(*type).name : token.text);
  }

  /// `NAME=VALUE` to the end of the line, each name once: calls \p read with each name, at its value.
  void assignments(TokenCursor& cursor, const std::string& key, const auto& read) {
    places_[key] = directive_place_;
    if (cursor.at_end()) cursor.fail("expected NAME=VALUE, not " + cursor.described());
    std::set<std::string> seen;
    while (!cursor.at_end()) {
      const Token token = cursor.expect_identifier("NAME=VALUE");
      const std::string name(token.text);
      if (!seen.insert(name).second) throw SpecError(cursor.place(token), in_quotes(name) + " is given twice");
      places_[key + " " + name] = cursor.place(token);
      cursor.expect("=", in_quotes(name));
      read(name);
    }
  }

  LaunchDraft& current_launch() {
    if (draft_.launches.empty()) start_launch(spec_.name, false);
    return draft_.launches.back();
  }

  LaunchDraft& start_launch(const std::string& name, bool is_reference) {
    LaunchDraft& started = draft_.launches.emplace_back();
    started.launch.name = name;
    started.launch.location = directive_place_;
    started.is_reference = is_reference;
    return started;
  }

  LaunchDraft& once_in_launch() {
    LaunchDraft& current = current_launch();
    const auto [at, is_new] = current.given.emplace(directive_.text, directive_place_);
    if (!is_new) {
      throw SpecError(directive_place_, "a second " + in_quotes(directive_.text) + " for " +
                                            (current.is_reference ? "the reference " : "launch ") +
                                            in_quotes(current.launch.name) + "; the first is in line " +
                                            std::to_string(at->second.line));
    }
    return current;
  }

  std::string raw(TokenCursor& cursor, std::string_view what) {
    if (cursor.at_end()) cursor.fail("expected " + std::string(what) + ", not the end of the line");
    std::string text;  // with single blanks: continued lines are indented
    for (const char c : cursor.rest()) {
      const bool blank = c == ' ' || c == '\t';
      if (!blank || text.back() != ' ') text += blank ? ' ' : c;
    }
    draft_.cpp_texts.emplace_back(std::move(text), cursor.place());
    cursor.skip_rest();
    return draft_.cpp_texts.back().first;
  }

  // --- the directives ---

  void read_kernel(TokenCursor& cursor) {
    once("kernel");
    const Token name = cursor.expect_identifier("the kernel's name");
    places_["kernel"] = cursor.place(name);
    spec_.name = name.text;
  }

  void read_type(TokenCursor& cursor) {
    const std::string name = declare(cursor, "type", true);
    if (cursor.accept("of")) return read_derived_type(cursor, name);
    cursor.expect("=", "the name");
    ChoiceSpec choice{name, true, {}};
    if (cursor.at_end()) cursor.fail(in_quotes(name) + " has no values");
    while (!cursor.at_end()) {
      const SourceLocation place = cursor.place();
      std::string type(info(parse_element_type(cursor)).name);
      if (std::find(choice.values.begin(), choice.values.end(), type) != choice.values.end())
        throw SpecError(place, in_quotes(type) + " is given twice");
      places_[name + "=" + type] = place;
      choice.values.push_back(std::move(type));
    }
    spec_.choices.push_back(std::move(choice));
  }

  void read_derived_type(TokenCursor& cursor, const std::string& name) {
    DerivedTypeSpec type{name, std::string(cursor.expect_identifier("the type that it follows from").text), {}};
    places_[name + " of"] = cursor.line().place(cursor.last_stop() - type.of.size());
    cursor.expect("=", "the name");
    if (cursor.at_end()) cursor.fail("expected TYPE:TYPE, not " + cursor.described());
    while (!cursor.at_end()) {
      const SourceLocation place = cursor.place();
      const std::string from(info(parse_element_type(cursor)).name);
      cursor.expect(":", in_quotes(from));
      if (!type.mapping.emplace(from, info(parse_element_type(cursor)).name).second)
        throw SpecError(place, in_quotes(from) + " is given twice");
    }
    spec_.derived_types.push_back(std::move(type));
  }

  void read_choice(TokenCursor& cursor) {
    ChoiceSpec choice{declare(cursor, "choice", true), false, {}};
    for (const Value& one : values(cursor, choice.name)) choice.values.push_back(one.text());
    spec_.choices.push_back(std::move(choice));
  }

  void read_size(TokenCursor& cursor) {
    const std::size_t first = spec_.sizes.size();
    do {
      spec_.sizes.push_back({declare(cursor, "size", true), ElementType::int32, std::nullopt});
    } while (cursor.at_identifier());
    std::optional<ElementType> type;
    SourceLocation type_place, default_place;
    if (cursor.accept(":")) {
      type_place = cursor.place();
      type = parse_element_type(cursor);
    }
    std::optional<std::int64_t> value;
    if (cursor.accept("=")) {
      default_place = cursor.place();
      value = parse_size(cursor, "a size");
    }
    for (std::size_t i = first; i < spec_.sizes.size(); ++i) {
      SizeSpec& size = spec_.sizes[i];
      if (type) {
        size.type = *type;
        places_["type of " + size.name] = type_place;
      }
      if (value) {
        size.default_value = value;
        places_["default of " + size.name] = default_place;
      }
    }
  }

  void read_parameter(TokenCursor& cursor) {
    const std::string name = declare(cursor, "parameter", true);
    if (draft_.parameters.size() == kMostParameters)
      throw SpecError(places_.at(name), "more than " + std::to_string(kMostParameters) + " parameters");
    draft_.parameters.push_back({name, values(cursor, name)});
  }

  void read_let(TokenCursor& cursor) {
    const std::string name = declare(cursor, "let", true);
    cursor.expect("=", "the name");
    draft_.lets.emplace(name, expression(cursor));
  }

  void read_constraint(TokenCursor& cursor) {
    const Token token = cursor.expect_identifier("the name of a constraint, as in 'constraint NAME: EXPRESSION'");
    const std::string name(token.text);
    const auto same = [&](const Constraint& constraint) { return constraint.name == name; };
    if (std::any_of(draft_.constraints.begin(), draft_.constraints.end(), same)) {
      throw SpecError(cursor.place(token), "a constraint " + in_quotes(name) + " exists already");
    }
    if (draft_.constraints.size() == kMostConstraints)
      throw SpecError(cursor.place(token), "more than " + std::to_string(kMostConstraints) + " constraints");
    cursor.expect(":", "the constraint's name");
    draft_.constraints.push_back({name, expression(cursor)});
  }

  void read_buffers(TokenCursor& cursor, BufferRole role) {
    do {
      BufferSpec buffer;
      buffer.role = role;
      buffer.name = declare(cursor, "buffer", false);
      cursor.expect("[", "the buffer's name: its number of elements follows, as in a[n]");
      buffer.count = expression(cursor);
      cursor.expect("]", "the number of elements");
      if (cursor.accept(":")) buffer.type = type_name(cursor, "type of " + buffer.name);
      spec_.buffers.push_back(std::move(buffer));
    } while (cursor.accept(","));
  }
  void read_in(TokenCursor& cursor) { read_buffers(cursor, BufferRole::in); }
  void read_out(TokenCursor& cursor) { read_buffers(cursor, BufferRole::out); }
  void read_inout(TokenCursor& cursor) { read_buffers(cursor, BufferRole::inout); }
  void read_consumed(TokenCursor& cursor) { read_buffers(cursor, BufferRole::consumed); }
  void read_scratch(TokenCursor& cursor) { read_buffers(cursor, BufferRole::scratch); }
  void read_zeroed(TokenCursor& cursor) { read_buffers(cursor, BufferRole::zeroed); }

  void read_fill(TokenCursor& cursor) {
    const Token token = cursor.expect_identifier("the name of a buffer");
    FillDraft pending{std::string(token.text), {}, cursor.place(token)};
    cursor.expect("=", "the buffer's name");
    const Token kind = cursor.expect_identifier("'uniform LOW HIGH', 'constant VALUE' or 'iota'");
    if (kind.text == "uniform") {
      pending.fill.low = parse_number(cursor, "the lower bound");
      const SourceLocation place = cursor.place();
      pending.fill.high = parse_number(cursor, "the upper bound");
      if (pending.fill.low >= pending.fill.high) throw SpecError(place, "the upper bound must be above the lower one");
    } else if (kind.text == "constant") {
      pending.fill.kind = Fill::Kind::constant;
      pending.fill.low = parse_number(cursor, "a number");
    } else if (kind.text == "iota") {
      pending.fill.kind = Fill::Kind::iota;
    } else {
      throw SpecError(cursor.place(kind),
                      "unknown fill " + in_quotes(kind.text) + suggestion(kind.text, {"uniform", "constant", "iota"}));
    }
    once("fill " + pending.buffer);
    draft_.fills.push_back(std::move(pending));
  }

  void read_scalar(TokenCursor& cursor) {
    ScalarSpec scalar;
    scalar.name = declare(cursor, "scalar", false);
    if (cursor.accept(":")) scalar.type = type_name(cursor, "type of " + scalar.name);
    cursor.expect("=", "the scalar: the value used for tuning follows");
    scalar.value = parse_number(cursor, "a number");
    spec_.scalars.push_back(std::move(scalar));
  }

  void read_instantiate(TokenCursor& cursor) {
    LaunchDraft& current = once_in_launch();
    if (current.is_reference)
      throw SpecError(directive_place_, "'reference' names its function itself; start a launch with 'launch NAME'");
    current.launch.instantiate = raw(cursor, "the kernel's C++ name, as in f<T, block>");
  }

  void read_extents(TokenCursor& cursor, std::array<Expression, 3>& extents) {
    std::size_t dimension = 0;
    do {
      if (dimension == 3) cursor.fail(in_quotes(directive_.text) + " has at most 3 dimensions");
      extents[dimension++] = expression(cursor);
    } while (cursor.accept(","));
  }
  void read_grid(TokenCursor& cursor) { read_extents(cursor, once_in_launch().launch.grid); }
  void read_block(TokenCursor& cursor) { read_extents(cursor, once_in_launch().launch.block); }
  void read_shared(TokenCursor& cursor) { once_in_launch().launch.shared_bytes = expression(cursor); }
  void read_when(TokenCursor& cursor) { once_in_launch().launch.when = expression(cursor); }
  /// A directive that stands alone holds always.
  Expression always_or(TokenCursor& cursor) { return cursor.at_end() ? Expression::constant(1) : expression(cursor); }
  void read_untimed(TokenCursor& cursor) {
    LaunchDraft& current = once_in_launch();
    if (current.is_reference) throw SpecError(directive_place_, "a reference is not part of any run's time");
    current.launch.untimed = always_or(cursor);
  }

  void read_cooperative(TokenCursor& cursor) { once_in_launch().launch.cooperative = always_or(cursor); }

  void read_arguments(TokenCursor& cursor) {
    LaunchDraft& current = once_in_launch();
    do {
      const Token token = cursor.expect_identifier("the name of an argument");
      current.launch.arguments.emplace_back(token.text);
      current.argument_places.push_back(cursor.place(token));
    } while (cursor.accept(","));
  }

  void read_launch(TokenCursor& cursor) {
    const Token token = cursor.expect_identifier("the launch's name");
    const auto same = [&](const LaunchDraft& other) { return !other.is_reference && other.launch.name == token.text; };
    if (std::any_of(draft_.launches.begin(), draft_.launches.end(), same))
      throw SpecError(cursor.place(token), "a launch " + in_quotes(token.text) + " exists already");
    start_launch(std::string(token.text), false);
  }

  void read_reference(TokenCursor& cursor) {
    const std::string function = raw(cursor, "the reference's C++ name, as in f<T>");
    start_launch(function, true).launch.instantiate = function;
  }

  void read_verify(TokenCursor& cursor) {
    VerifySpec verify;
    assignments(cursor, "verify " + std::to_string(spec_.verify.size()), [&](const std::string& name) {
      const std::int64_t given = parse_size(cursor, "an integer");
      if (name == "offset") {
        verify.offset = given;
      } else {
        verify.sizes[name] = given;
      }
    });
    spec_.verify.push_back(std::move(verify));
  }

  void read_tolerance(TokenCursor& cursor) {
    once("tolerance");
    Tolerance tolerance;
    std::set<std::string> seen;
    do {
      const Token word = cursor.expect_identifier("'relative NUMBER' or 'absolute NUMBER'");
      if (word.text != "relative" && word.text != "absolute") {
        throw SpecError(cursor.place(word), "expected 'relative' or 'absolute', not " + in_quotes(word.text) +
                                                suggestion(word.text, {"relative", "absolute"}));
      }
      if (!seen.insert(std::string(word.text)).second)
        throw SpecError(cursor.place(word), in_quotes(word.text) + " is given twice");
      places_["tolerance"] = cursor.place();
      const double bound = parse_number(cursor, "a number");
      if (bound < 0) throw SpecError(places_["tolerance"], "a tolerance cannot be negative");
      (word.text == "relative" ? tolerance.relative : tolerance.absolute) = bound;
    } while (!cursor.at_end());
    spec_.tolerance = tolerance;
  }

  void read_accumulates(TokenCursor& cursor) { once("accumulates"), spec_.accumulates = expression(cursor); }
  void read_bytes(TokenCursor& cursor) { once("bytes"), spec_.bytes = expression(cursor); }
  void read_flops(TokenCursor& cursor) { once("flops"), spec_.flops = expression(cursor); }

  void read_device_launches(TokenCursor& cursor) {
    once("device_launches");
    spec_.device_launches = expression(cursor);
  }

  /// `-OPTION … [when CONDITION]`
  void read_compile(TokenCursor& cursor) {
    const std::size_t first = spec_.compile_options.size();
    while (cursor.peek().is("-")) spec_.compile_options.push_back(compile_option(cursor));
    if (spec_.compile_options.size() == first)
      cursor.fail("expected an option, as in --maxrregcount={registers}, not " + cursor.described());
    if (cursor.at_end()) return;
    if (!cursor.accept("when"))
      cursor.fail("expected an option or 'when', not " + cursor.described() +
                  "; an option's value stands behind its '=', without blanks");
    const Expression when = expression(cursor);
    for (std::size_t i = first; i < spec_.compile_options.size(); ++i) spec_.compile_options[i].when = when;
  }

  /// One option, up to the next blank, with expressions in braces.
  CompileOptionSpec compile_option(TokenCursor& cursor) {
    const std::string_view text = cursor.line().text;
    const std::size_t begin = cursor.peek().begin;
    CompileOptionSpec option;
    option.location = cursor.place();
    std::string as_written;
    std::size_t at = begin;
    for (; at < text.size() && !is_blank(text[at]); ++at) {
      if (text[at] != '{') {
        as_written += text[at];
        continue;
      }
      if (!as_written.empty()) option.parts.emplace_back(std::exchange(as_written, {}));
      TokenCursor inside(cursor.line(), at + 1);
      option.parts.emplace_back(expression(inside, "}"));
      if (!inside.peek().is("}")) inside.fail("expected '}' after the value, not " + inside.described());
      at = inside.peek().begin;
    }
    if (!as_written.empty()) option.parts.emplace_back(std::move(as_written));
    cursor.skip(at - begin);
    return option;
  }

  /// `NAME NAME …` or `NAME = EXPRESSION`
  void read_define(TokenCursor& cursor) {
    const std::size_t first = spec_.macros.size();
    do {
      const Token token = cursor.expect_identifier("the name of a macro");
      const LogicalLine itself = LogicalLine::from(token.text, cursor.place(token));
      MacroSpec macro{std::string(token.text), {}, cursor.place(token)};
      once("define " + macro.name);
      const bool is_first = spec_.macros.size() == first;
      TokenCursor name(itself);
      macro.value = is_first && cursor.accept("=") ? expression(cursor) : expression(name);
      spec_.macros.push_back(std::move(macro));
    } while (cursor.at_identifier());
  }

  void read_default(TokenCursor& cursor) {
    once("default");
    Configuration configuration;
    assignments(cursor, "default", [&](const std::string& name) { configuration.set(name, parse_value(cursor)); });
    spec_.default_configuration = std::move(configuration);
  }

  KernelDraft draft_;
  KernelSpec& spec_ = draft_.spec;
  SpecPlaces& places_ = draft_.places;

  std::size_t values_ = 0;
  std::size_t operations_ = 0;
  std::vector<const LogicalLine*> commented_;  // with an expression before the comment
  Token directive_;
  SourceLocation directive_place_;
  std::map<std::string, std::string> declared_;  // name -> what it is
  std::map<std::string, SourceLocation> given_;
};

using P = KernelFileParser;
const std::array<KernelFileParser::Directive, 34> KernelFileParser::kDirectives{{
    {"kernel", &P::read_kernel},
    {"type", &P::read_type},
    {"choice", &P::read_choice},
    {"size", &P::read_size},
    {"parameter", &P::read_parameter},
    {"let", &P::read_let},
    {"constraint", &P::read_constraint},
    {"in", &P::read_in},
    {"out", &P::read_out},
    {"inout", &P::read_inout},
    {"consumed", &P::read_consumed},
    {"scratch", &P::read_scratch},
    {"zeroed", &P::read_zeroed},
    {"fill", &P::read_fill},
    {"scalar", &P::read_scalar},
    {"instantiate", &P::read_instantiate},
    {"grid", &P::read_grid},
    {"block", &P::read_block},
    {"shared", &P::read_shared},
    {"arguments", &P::read_arguments},
    {"when", &P::read_when},
    {"cooperative", &P::read_cooperative},
    {"untimed", &P::read_untimed},
    {"launch", &P::read_launch},
    {"reference", &P::read_reference},
    {"verify", &P::read_verify},
    {"tolerance", &P::read_tolerance},
    {"accumulates", &P::read_accumulates},
    {"bytes", &P::read_bytes},
    {"flops", &P::read_flops},
    {"device_launches", &P::read_device_launches},
    {"compile", &P::read_compile},
    {"define", &P::read_define},
    {"default", &P::read_default},
}};

}  // namespace

KernelSpec parse_kernel_file(std::string_view text, std::string file_name) {
  KernelSpec spec = KernelFileParser(text, std::move(file_name)).parse();
  Includes includes = included_files(spec.source, spec.file);
  if (includes.unknown || !includes.files.empty())
    spec.includes = std::make_shared<const Includes>(std::move(includes));
  return spec;
}

KernelSpec read_kernel_file(const std::filesystem::path& path) {
  return parse_kernel_file(read_input_file(path, kMaxKernelFileBytes, "kernel file"), path.string());
}

}  // namespace tuner
