#include <tuner/core/kernel_file/validate_kernel.hpp>

#include <algorithm>
#include <cmath>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/compile_values.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel_file/tensor_map_lines.hpp>
#include <tuner/core/kernel_file/validate_launches.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

const ExpressionNode* find_node(const ExpressionNode& node, const std::string& name) {
  if (node.name == name) return &node;
  for (const auto& child : node.children)
    if (const ExpressionNode* found = find_node(*child, name)) return found;
  return nullptr;
}

/// The first place where \p expression has \p name, one of its names.
const SourceLocation& place_of(const Expression& expression, const std::string& name) {
  return find_node(*ExpressionAccess::root(expression), name)->location;
}

/// Checks a draft part by part, in the order in which authors write them.
class Validator : public Checks {
 public:
  using Checks::Checks;

  void run() {
    lets();
    instantiations();
    values();
    types();
    if (spec_.space.parameters().empty())
      throw SpecError(draft_.given.at("kernel"), "there is nothing to tune: the kernel has no 'parameter'");
    for_each_expression(spec_, [&](const Expression& one, const ExpressionUse& use) { expression(one, use); });
    fills();
    validate_launches(*this);
    verifications();
    compile_options();
    macros();
    constants();
    textures();
    validate_tensor_maps(*this);
    defaults();
    for (const auto& [name, expression] : draft_.lets) check_names(expression, all_);
  }

 private:
  /// A `let` replaces its name only in the lines after it.
  void lets() const {
    const auto fail = [&](const SourceLocation& place, std::string_view name) {
      throw SpecError(place, in_quotes(name) + " is used before the 'let' that defines it, in line " +
                                 std::to_string(draft_.names.find(name)->second.place.line));
    };
    if (draft_.lets.empty()) return;
    for (const Expression& user : draft_.expressions)
      for (const std::string& name : user.names())
        if (draft_.lets.contains(name)) fail(place_of(user, name), name);
    for (const LaunchDraft& one : draft_.launches)
      for (const std::string_view word : words_of(one.launch.instantiate)) {
        const auto is_it = [&](const ComputedText& text) { return text.text == word; };
        const std::vector<ComputedText>& known = one.launch.computed_texts;
        if (draft_.lets.contains(word) && std::ranges::none_of(known, is_it)) fail(one.launch.location, word);
      }
  }

  /// Reports a name without its namespace, and a wrong number of template arguments, more clearly than compilers do.
  void instantiations() const {
    const ScopedCode own(draft_.code);
    for (const LaunchDraft& one : draft_.launches) {
      const bool of_reference = one.role == LaunchDraft::Role::reference && spec_.has_reference_sources();
      if (!of_reference) has_its_namespace(own, one);
      const std::string problem =
          template_argument_problem(of_reference ? draft_.reference_code : draft_.code, one.launch.instantiate);
      if (!problem.empty()) throw SpecError(one.instantiate_place, problem);
    }
  }

  /// Only where no `using`, header or macro could bring the name in: elsewhere the compiler says it.
  void has_its_namespace(const ScopedCode& code, const LaunchDraft& one) const {
    const std::string name(trimmed(one.launch.instantiate.substr(0, one.launch.instantiate.find('<'))));
    if (!is_identifier(name)) return;
    const std::vector<Signature> all = find_signatures(code, name);
    std::vector<std::size_t> places;
    for (const Signature& head : all) places.push_back(head.begin);
    const std::vector<DirectiveLine> lines = directives_of(code.text());
    const bool others_decide = std::ranges::any_of(
        lines, [](const DirectiveLine& line) { return line.name() == "include" || line.name() == "define"; });
    if (all.empty() || others_decide || has_word(code.text(), "using") ||
        !resolve(code, {name, "", npos}, places).empty())
      return;
    throw SpecError(one.instantiate_place, in_quotes(name) + " is in a namespace: write " +
                                               in_quotes(all.front().namespaces + all.front().name));
  }

  void values() const {
    for (const ValuesDraft& one : draft_.values)
      for (std::size_t i = 0; i < one.values.size(); ++i) value(one, one.values[i], one.places[i]);
  }

  void value(const ValuesDraft& of, const Value& value, const SourceLocation& place) const {
    const auto kind = [](const Value& v) { return v.is_integer() ? 0 : v.is_boolean() ? 1 : 2; };
    const std::string& owner = of.names.front();
    if (kind(value) != kind(of.values.front()))
      throw SpecError(place, "the values of " + in_quotes(owner) +
                                 " are of different kinds: " + of.values.front().text() + " and " + value.text());
    const bool is_choice = spec_.find_choice(owner) != nullptr;
    if (!value.is_string() && !is_choice) return;
    const std::string text = value.text();
    if (is_choice && !std::ranges::all_of(text, is_word))
      throw SpecError(place, in_quotes(text) + " is neither a word nor a number; it becomes part of a macro's name");
    if (!value.is_string()) return;
    // In an expression, a word would be read as a name.
    if (is_reserved_word(text))
      throw SpecError(place, in_quotes(text) + " is a word of the expression language and cannot be a value");
    if (all_.contains(text))
      throw SpecError(place,
                      in_quotes(text) + " is a name already and cannot be a value of " + in_quotes(owner) + " too");
  }

  void types() const {
    const auto is_type = [&](const std::string& name) {
      const ChoiceSpec* const choice = spec_.find_choice(name);
      return (choice != nullptr && choice->is_type) || find_named(spec_.derived_types, name) != nullptr;
    };
    for (const DerivedTypeSpec& type : spec_.derived_types) {
      if (is_type(type.of) && spec_.find_choice(type.of) != nullptr) continue;
      std::vector<std::string> names = names_of(spec_.choices);
      std::erase_if(names, [&](const std::string& one) { return !is_type(one); });
      throw SpecError(type.location,
                      in_quotes(type.of) + " is not a type that the caller chooses" + suggestion(type.of, names));
    }
    for (const auto& [name, place] : draft_.types)
      if (!is_type(name))
        throw SpecError(place, "unknown type " + in_quotes(name) +
                                   suggestion(name, names_of(element_types(), spec_.choices, spec_.derived_types)));
    const auto require_type = [&](const auto& typed, const std::string& about = {}) {
      if (typed.type.empty())
        throw SpecError(draft_.names.at(typed.name).place,
                        "an element type is needed, as in ': float' or ': { float x; int id; }': the kernel has no "
                        "'type' to use instead, and " +
                            why_untyped(typed.name) + about);
    };
    for (const BufferSpec& buffer : spec_.buffers) require_type(buffer, about_its_line(buffer));
    for (const ScalarSpec& scalar : spec_.scalars) {
      require_type(scalar);
      numbers(scalar);
      pointers(scalar);
    }
  }

  std::string why_untyped(const std::string& name) const {
    const auto why = draft_.untyped.find(name);
    return why != draft_.untyped.end() ? why->second : in_quotes(name) + " is not an argument of the kernel";
  }

  static void numbers(const ScalarSpec& scalar) {
    std::size_t wanted = 1;
    if (scalar.record) {
      wanted = 0;
      for (const RecordField& field : scalar.record->fields) wanted += static_cast<std::size_t>(field.count);
    }
    if (scalar.values.size() == wanted) return;
    throw SpecError(scalar.location,
                    in_quotes(scalar.name) +
                        (scalar.record ? " is a struct of " + std::to_string(wanted) +
                                             (scalar.record->has_pointers() ? " numbers and pointers" : " numbers")
                                       : " is a number of type " + scalar.type) +
                        ", but has " + std::to_string(scalar.values.size()));
  }

  /// Requires addresses for the pointers of a struct, and for nothing else. Call this after numbers().
  void pointers(const ScalarSpec& scalar) const {
    if (!scalar.record) return pointer(scalar.name, "", scalar.values.front());
    std::size_t next = 0;
    for (const RecordField& field : scalar.record->fields)
      for (int i = 0; i < field.count; ++i)
        pointer(scalar.name + '.' + field.name + (field.count == 1 ? "" : '[' + std::to_string(i) + ']'), field.pointer,
                scalar.values[next++]);
  }

  void pointer(const std::string& name, const std::string& type, const ScalarValue& value) const {
    const auto fail = [&](const std::string& message) { throw SpecError(value.location, message); };
    if (type.empty() && value.address.empty()) return;
    if (type.empty())
      fail(in_quotes(name) + " is a number, but " + in_quotes(value.address) +
           (value.address == kNullPointer ? " is a pointer" : " is a buffer"));
    if (value.computed && is_name(*value.computed) && !is_known_name(*value.computed))
      fail("unknown buffer " + in_quotes(value.computed->text()) +
           suggestion(value.computed->text(), names_of(spec_.buffers)));
    if (value.address.empty() && (value.computed || value.number != 0))
      fail(in_quotes(name) + " is a pointer (" + in_quotes(type) + "): give the name of a buffer, or 'nullptr'");
    const BufferSpec* const buffer = spec_.find_buffer(value.address);
    if (buffer == nullptr) return;
    if (buffer->role == BufferRole::constant)
      fail(in_quotes(value.address) + " is 'constant': a variable of the program, whose address is not passed");
    const auto number = element_type(buffer->type);
    if (!number || buffer->record || buffer->is_work_space() || is_pointer_to_pointers(type)) return;
    if (!may_take(type, *number, true))
      fail(in_quotes(value.address) + " is declared as a buffer of " + buffer->type + ", but " + in_quotes(name) +
           " is " + type);
  }

  /// Throws SpecError if a name is unknown, is used wrongly, or is a parameter that may not stand here.
  void expression(const Expression& expression, const ExpressionUse& use) const {
    refuse_parameters(expression, use.why_fixed);
    if (use.may_be_word && is_known_name(expression)) {
      const bool is_number = !all_.at(expression.names().front()).is_word || is_floating_parameter(expression);
      if (use.role == ExpressionRole::code || is_number) return;
      throw SpecError(expression.location(),
                      in_quotes(expression.text()) + " has words for values and cannot be an argument");
    }
    if (use.of_elements.empty()) return check_names(expression, all_);
    if (all_.count("i") != 0)
      throw SpecError(draft_.names.at("i").place,
                      "'i' is the index of an element in " + in_quotes(use.of_elements) + ": use another name");
    KnownNames known = all_;
    known["i"] = {};
    check_names(expression, known);
  }

  void fills() const {
    for (const BufferSpec& buffer : spec_.buffers) {
      if (buffer.fill) fill(buffer.name, buffer.type, *buffer.fill);
      if (buffer.record)
        for (const RecordField& field : buffer.record->fields)
          if (field.fill) fill(buffer.name + '.' + field.name, info(field.type).name, *field.fill);
    }
  }

  void constants() const {
    for (const BufferSpec& buffer : spec_.buffers)
      if (buffer.role == BufferRole::constant && !may_occur(spec_, ProgramPart::kernel, buffer.name))
        throw SpecError(draft_.names.at(buffer.name).place,
                        "the program has no variable " + in_quotes(buffer.scope + buffer.name));
  }

  void textures() const {
    for (const TextureSpec& texture : spec_.textures) {
      const auto fail = [&](const std::string& message) { throw SpecError(texture.location, message); };
      const std::string quoted = in_quotes(texture.name), what = texture.is_surface ? "surface " : "texture ";
      const BufferSpec* const buffer = spec_.find_buffer(texture.buffer);
      if (buffer == nullptr)
        return fail("unknown buffer " + in_quotes(texture.buffer) +
                    suggestion(texture.buffer, names_of(spec_.buffers)));
      if (buffer->role != BufferRole::in && !(texture.is_surface && buffer->is_output()))
        fail(
            what + quoted + " shows " + in_quotes(buffer->name) +
            (texture.is_surface ? ", which is not an 'in', 'out' or 'inout' buffer" : ", which is not an 'in' buffer"));
      if (buffer->record)
        fail(what + quoted + " needs numbers, but the elements of " + in_quotes(buffer->name) + " are structs");
      if (buffer->components == 3 || buffer->components > 4)
        fail(what + quoted + " has elements of 1, 2 or 4 numbers, not of " + std::to_string(buffer->components));
      if (!texture.reading.normalized && (texture.reading.outside == TextureReading::Outside::wrap ||
                                          texture.reading.outside == TextureReading::Outside::mirror))
        fail("'wrap' and 'mirror' are for 'normalized' coordinates");
      kind_of_memory(texture, fail);
      if (texture.is_surface) not_by_pointer(texture, fail);
    }
  }

  /// Checks the fill of \p name, a buffer or a field of one, with elements of \p type_name.
  void fill(const std::string& name, std::string_view type_name, const FillSpec& fill) const {
    const bool is_constant = fill.numbers.kind == Fill::Kind::constant && !fill.low;
    const auto type = element_type(type_name);
    if (!type || info(*type).is_floating) return;
    if (fill.element ? fill.element->has_reals() : is_constant && !std::isfinite(fill.numbers.low))
      throw SpecError(
          fill.element ? fill.element->location() : fill.location,
          in_quotes(name) + " has elements of " + std::string(type_name) + ", which can be filled with integers only");
  }

  /// tex1Dfetch and tex1D read different kinds of memory. On a GPU the wrong one reports no error.
  template <typename Fail>
  void kind_of_memory(const TextureSpec& texture, const Fail& fail) const {
    if (texture.is_surface || texture.extent.size() > 1) {
      if (texture.reading.fetched) fail("only a texture of one dimension can be 'fetched'");
      return;
    }
    const auto has = [&](std::initializer_list<const char*> functions) {
      return std::ranges::any_of(functions, [&](const char* function) {
        return may_occur(spec_, ProgramPart::kernel, function) || may_occur(spec_, ProgramPart::reference, function);
      });
    };
    const bool fetches = has({"tex1Dfetch"}), samples = has({"tex1D", "tex1DLod", "tex1DGrad", "tex1DLayered"});
    if (!texture.reading.fetched && fetches && !samples)
      fail("the kernel reads with tex1Dfetch, which needs linear memory: write 'texture " + texture.name + " = " +
           texture.buffer + "[...] fetched'");
    if (texture.reading.fetched && samples && !fetches)
      fail("the kernel reads with tex1D, but 'fetched' is for tex1Dfetch only: leave it out");
    if (texture.reading.fetched && texture.reading.outside != TextureReading::Outside::clamp)
      fail("tex1Dfetch always reads zero outside: 'fetched' excludes 'border', 'wrap' and 'mirror'");
  }

  /// After a run the elements of a surface are copied to its buffer, over anything that was written there.
  template <typename Fail>
  void not_by_pointer(const TextureSpec& surface, const Fail& fail) const {
    for (const auto* const launches : {&spec_.launches, &spec_.verification.reference}) {
      const auto takes = [&](const std::string& name) {
        return std::ranges::any_of(*launches,
                                   [&](const LaunchSpec& launch) { return contains(spec_.taken_by(launch), name); });
      };
      if (takes(surface.name) && takes(surface.buffer))
        fail("the kernel gets " + in_quotes(surface.buffer) + " through " + in_quotes(surface.name) +
             " and also by pointer: what it writes through one would be lost in the other");
    }
    if (spec_.find_buffer(surface.buffer)->role != BufferRole::inout) return;
    for (const LaunchSpec& launch : spec_.prepare)
      if (contains(spec_.taken_by(launch), surface.buffer))
        fail("'prepare' changes " + in_quotes(surface.buffer) + ", but a surface holds a copy of it");
  }

  void verifications() const {
    for (std::size_t i = 0; i < spec_.verification.problems.size(); ++i) {
      const auto fail = [&](const std::string& name, const std::string& message) {
        throw SpecError(draft_.verify_places[i].at(name), message);
      };
      const auto unknown = [&](const std::string& name) {
        std::vector<std::string> names = names_of(spec_.sizes, spec_.scalars);
        names.emplace_back("offset");
        fail(name, in_quotes(name) + " is not a size of this kernel" + suggestion(name, names));
      };
      const VerifySpec& problem = spec_.verification.problems[i];
      for (const auto& [name, value] : problem.sizes)
        if (!spec_.find_size(name)) unknown(name);
      for (const auto& [name, number] : problem.scalars) {
        if (spec_.find_size(name))
          fail(name, name + '=' + scalar_text(number) + (number < 0 ? " is negative" : " is not a whole number"));
        const ScalarSpec* const scalar = spec_.find_scalar(name.substr(0, name.find('.')));
        if (scalar == nullptr) unknown(name);
        if (scalar->record && !contains(number_names(*scalar), name))
          fail(name, in_quotes(name) + " is not a number of the struct '" + scalar->name + "'" +
                         suggestion(name, number_names(*scalar)));
        if (!scalar->record && name != scalar->name) unknown(name);
        if (scalar->only) fail(name, in_quotes(name) + " has one value 'only': 'verify' cannot use another");
      }
    }
  }

  void compile_options() {
    for (const CompileOptionSpec& option : spec_.program.compile_options) {
      const auto fail = [&](const std::string& message) { throw SpecError(option.location, message); };
      const std::string& head = std::get<std::string>(option.parts.front());  // begins with '-'
      const std::string name = head.substr(0, head.find('='));
      if (option_name(name).empty()) fail(in_quotes(head) + " is not an option");
      if (option.parts.size() > 1 && name == head)
        fail("the values of " + in_quotes(name) + " follow a '=', as in --maxrregcount={registers}");
      if (const std::string why = why_refused(head); !why.empty()) fail(in_quotes(name) + ' ' + why);
    }
  }

  void macros() {
    if (spec_.program.macros.empty()) return;
    const std::vector<ExpandedCode::Override> overrides =
        expanded_program(spec_.program, program_text(spec_), {names_of(spec_.program.macros)}).overrides;
    for (const MacroSpec& macro : spec_.program.macros) {
      const auto fail = [&](const std::string& message) { throw SpecError(macro.location, message); };
      const std::string quoted = in_quotes(macro.name);
      if (macro.name.starts_with("TUNER")) fail(quoted + ": macros that begin with TUNER are tuner's");
      if (all_.count(macro.name) != 0 && macro.value.text() != macro.name)
        fail("a macro with the name of " + quoted + " has its value too: write 'define " + macro.name + "'");
      if (const auto* const by = find_named(overrides, macro.name))
        fail("line " + std::to_string(by->line) + (by->file == spec_.program.file ? "" : " of " + by->file) +
             " undefines " + quoted +
             ", or defines it with arguments, which would override this: put it between "
             "'#ifndef " +
             macro.name + "' and '#endif', or remove it");
      for (std::size_t i = 0; i < spec_.verification.problems.size(); ++i) {
        for (const auto& [name, value] : spec_.verification.problems[i].sizes)
          if (contains(macro.value.names(), name))
            throw SpecError(draft_.verify_places[i].at(name),
                            in_quotes(name) + " is in macro " + quoted +
                                ", so code is compiled for one value of it: 'verify' cannot use another");
      }
    }
  }

  void defaults() {
    if (spec_.default_configuration) configuration(*spec_.default_configuration, draft_.default_names, "the default");
    for (std::size_t i = 0; i < spec_.seeds.size(); ++i) configuration(spec_.seeds[i], draft_.seeds[i], "the seed");
  }

  void configuration(const Configuration& given, const AssignedDraft& places, const std::string& what) {
    const auto fail = [&](const std::string& message) { throw SpecError(places.line, what + ' ' + message); };
    Bindings values;
    for (const auto& [name, value] : given.entries()) {
      const SourceLocation& place = places.names.at(name);
      const TuningParameter* parameter = spec_.space.find(name);
      if (!parameter)
        throw SpecError(place, in_quotes(name) + " is not a parameter of this kernel" +
                                   suggestion(name, names_of(spec_.space.parameters())));
      if (!contains(parameter->values, value)) {
        const std::vector<std::string> allowed = texts_of(parameter->values);
        throw SpecError(place, name + "=" + value.text() + " is not one of: " + listed(allowed) +
                                   (value.is_string() ? suggestion(value.text(), allowed) : ""));
      }
      values.set(name, value);
    }
    for (const TuningParameter& parameter : spec_.space.parameters())
      if (!values.find(parameter.name)) fail("misses parameter " + in_quotes(parameter.name));
    // Other conjuncts depend on the problem and the device: they cannot be evaluated.
    std::optional<EvaluationError> ignored;
    for (const Constraint& constraint : spec_.space.constraints())
      if (is_false(constraint.predicate, values, ignored))
        fail("violates " + in_quotes(constraint.name) + ": " + constraint.predicate.text());
  }
};

}  // namespace

void Checks::refuse_parameters(const Expression& expression, std::string_view why) const {
  if (why.empty()) return;
  for (const std::string& name : expression.names())
    if (spec_.space.find(name))
      throw SpecError(place_of(expression, name), in_quotes(name) + " is a parameter, and " + std::string(why));
}

bool Checks::is_known_name(const Expression& value) const {
  return is_name(value) && all_.count(value.names().front()) != 0;
}

bool Checks::is_floating_parameter(const Expression& value) const {
  const TuningParameter* const named = is_known_name(value) ? spec_.space.find(value.names().front()) : nullptr;
  return named != nullptr &&
         std::ranges::all_of(named->values, [](const Value& one) { return one.fraction().has_value(); });
}

void validate(const KernelDraft& draft) {
  const KnownNames names = known_names(draft.spec);
  Validator(draft, names).run();
}

}  // namespace tuner
