#include <algorithm>
#include <cmath>
#include <set>

#include <tuner/core/literals.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/template_arguments.hpp>
#include <tuner/core/token.hpp>
#include <tuner/core/validation.hpp>

namespace tuner {
namespace {

constexpr std::int64_t kMostOffset = 4096;

/// Checks a specification part by part, in the order in which authors write them.
class Validator : public Checks {
 public:
  using Checks::Checks;

  void run() {
    if (!is_identifier(spec_.name))
      fail({"kernel"}, spec_.name.empty() ? "the kernel has no name" : in_quotes(spec_.name) + " is not a name");
    names();
    choices();
    derived_types();
    sizes();
    parameters();
    words();
    for (const Constraint& constraint : spec_.space.constraints()) check(constraint.predicate, Parameters::allowed, "");
    validate_buffers(*this);
    validate_launches(*this);
    verifications();
    problem_expressions();
    compile_options();
    macros();
    validate_memory(*this);
    defaults();
  }

 private:
  void names() {
    std::set<std::string> seen;
    const auto declare = [&](const std::string& name, bool in_expressions) {
      const std::string problem =
          in_expressions || !is_identifier(name) || is_reserved_word(name) ? name_problem(name) : "";
      if (!problem.empty()) fail({name}, problem + " and cannot name anything else");
      if (!seen.insert(name).second) fail({name}, in_quotes(name) + " names two things");
    };
    for (const ChoiceSpec& choice : spec_.choices) declare(choice.name, true);
    for (const DerivedTypeSpec& type : spec_.derived_types) declare(type.name, true);
    for (const SizeSpec& size : spec_.sizes) declare(size.name, true);
    for (const TuningParameter& parameter : spec_.space.parameters()) declare(parameter.name, true);
    for (const BufferSpec& buffer : spec_.buffers) declare(buffer.name, false);
    for (const ScalarSpec& scalar : spec_.scalars) declare(scalar.name, false);
    for (const TextureSpec& texture : spec_.textures) declare(texture.name, false);
  }

  void choices() {
    for (const ChoiceSpec& choice : spec_.choices) {
      if (choice.values.empty()) fail({choice.name}, in_quotes(choice.name) + " has no values");
      std::set<std::string> seen;
      for (const std::string& value : choice.values) {
        const std::string key = choice.name + "=" + value;
        if (!seen.insert(value).second) fail({key, choice.name}, in_quotes(value) + " is given twice");
        if (choice.is_type) {
          require_element_type(value, {key, choice.name});
        } else if (!std::all_of(value.begin(), value.end(),
                                [](char c) { return is_identifier(std::string("_") + c); }) ||
                   value.empty()) {
          fail({key, choice.name},
               in_quotes(value) + " is neither a word nor a number; it becomes part of a macro's name");
        }
        if (Value::parse(value).is_string() != Value::parse(choice.values.front()).is_string()) {
          fail({key, choice.name}, "the values of " + in_quotes(choice.name) + " are of different kinds");
        }
      }
    }
  }

  void derived_types() {
    for (const DerivedTypeSpec& type : spec_.derived_types) {
      require_type_choice(type.of, {type.name + " of", type.name});
      for (const auto& [from, to] : type.mapping) {
        require_element_type(from, {type.name + "=" + from, type.name});
        require_element_type(to, {type.name + ":" + to, type.name});
      }
    }
  }

  void sizes() {
    constexpr ElementType allowed[] = {ElementType::int32, ElementType::uint32, ElementType::int64,
                                       ElementType::uint64};
    for (const SizeSpec& size : spec_.sizes) {
      if (size.name == "offset")
        fail({size.name}, "a size cannot be called 'offset', which 'verify' uses for alignment");
      if (!contains(allowed, size.type)) {
        fail({"type of " + size.name, size.name},
             "a size is an int, unsigned, int64 or uint64, not " + std::string(info(size.type).name));
      }
      if (!size.default_value) continue;
      if (*size.default_value < 0 || *size.default_value > integer_range(size.type)->high) {
        fail({"default of " + size.name, size.name}, std::to_string(*size.default_value) + " does not fit " +
                                                         std::string(info(size.type).name) + ", the type of " +
                                                         in_quotes(size.name));
      }
    }
  }

  void parameters() {
    if (spec_.space.parameters().empty()) fail({"kernel"}, "there is nothing to tune: the kernel has no 'parameter'");
    for (const TuningParameter& parameter : spec_.space.parameters()) {
      const auto kind = [](const Value& v) { return v.is_integer() ? 0 : v.is_boolean() ? 1 : 2; };
      for (const Value& value : parameter.values) {
        const std::string key = parameter.name + "=" + value.text();
        if (kind(value) != kind(parameter.values.front())) {
          fail({key, parameter.name}, "the values of " + in_quotes(parameter.name) + " are of different kinds: " +
                                          parameter.values.front().text() + " and " + value.text());
        }
        if (value.is_string() && !is_identifier(value.string()) && !is_floating_literal(value.string()))
          fail({key, parameter.name}, in_quotes(value.text()) + " is not a word");
      }
    }
  }

  /// A value that is a word must not be a name too: expressions could not tell them apart.
  void words() {
    const auto check_word = [&](const std::string& owner, const std::string& word) {
      if (is_reserved_word(word)) {
        if (word != "true" && word != "false")
          fail({owner + "=" + word, owner},
               in_quotes(word) + " is a word of the expression language and cannot be a value");
      } else if (all_.count(word)) {
        fail({owner + "=" + word, owner},
             in_quotes(word) + " is a name already and cannot be a value of " + in_quotes(owner) + " too");
      }
    };
    for (const ChoiceSpec& choice : spec_.choices) {
      for (const std::string& value : choice.values) check_word(choice.name, value);
    }
    for (const TuningParameter& parameter : spec_.space.parameters()) {
      for (const Value& value : parameter.values) {
        if (value.is_string()) check_word(parameter.name, value.string());
      }
    }
  }

  void verifications() {
    for (std::size_t i = 0; i < spec_.verify.size(); ++i) {
      const std::string key = "verify " + std::to_string(i);
      for (const auto& [name, value] : spec_.verify[i].sizes) {
        if (!spec_.find_size(name)) {
          std::vector<std::string> names = names_of(spec_.sizes);
          names.emplace_back("offset");
          fail({key + " " + name, key}, in_quotes(name) + " is no size of this kernel" + suggestion(name, names));
        }
        if (value < 0) fail({key + " " + name, key}, name + "=" + std::to_string(value) + " is negative");
      }
      if (spec_.verify[i].offset < 0) fail({key + " offset", key}, "an offset cannot be negative");
      if (spec_.verify[i].offset > kMostOffset) {
        fail({key + " offset", key}, "an offset is at most " + std::to_string(kMostOffset) +
                                         " elements: it moves buffers off their alignment, no further");
      }
    }
  }

  void problem_expressions() {
    const std::string why = "it describes the problem, not a configuration";
    for (const auto* expression : {&spec_.accumulates, &spec_.bytes, &spec_.flops}) {
      if (*expression) check(**expression, Parameters::refused, why);
    }
    if (spec_.device_launches) check(*spec_.device_launches, Parameters::allowed, "");
    if (!spec_.tolerance) return;
    const auto require_bound = [&](double bound, const char* key) {
      if (!std::isfinite(bound) || bound < 0) fail({key}, "a tolerance cannot be negative, infinite or NaN");
    };
    require_bound(spec_.tolerance->relative, "relative tolerance");
    require_bound(spec_.tolerance->absolute, "absolute tolerance");
  }

  void compile_options() {
    for (const CompileOptionSpec& option : spec_.compile_options) {
      const auto fail = [&](const std::string& message) { fail_at(option.location, message); };
      const auto* const head = option.parts.empty() ? nullptr : std::get_if<std::string>(&option.parts.front());
      if (head == nullptr || !head->starts_with("-")) fail("an option begins with '-'");
      const std::string name = head->substr(0, head->find('='));
      if (option_name(name).empty()) fail(in_quotes(*head) + " is no option");
      if (option.parts.size() > 1 && name == *head)
        fail("the values of " + in_quotes(name) + " follow a '=', as in --maxrregcount={registers}");
      if (const std::string why = why_refused(*head); !why.empty()) fail(in_quotes(name) + ' ' + why);
      for (const auto& part : option.parts)
        if (const auto* const value = std::get_if<Expression>(&part); value != nullptr && !is_known_name(*value))
          check(*value, Parameters::allowed, "");
      if (option.when) check(*option.when, Parameters::allowed, "");
    }
  }

  void macros() {
    std::set<std::string> seen, defined;
    for (const MacroSpec& macro : spec_.macros) defined.insert(macro.name);
    for (const MacroSpec& macro : spec_.macros) {
      const auto fail = [&](const std::string& message) { fail_at(macro.location, message); };
      const std::string quoted = in_quotes(macro.name);
      if (!is_identifier(macro.name)) fail(quoted + " is not a name");
      if (macro.name.starts_with("TUNER")) fail(quoted + ": macros that begin with TUNER are tuner's");
      if (!seen.insert(macro.name).second) fail(quoted + " is defined twice");
      if (all_.count(macro.name) != 0 && macro.value.text() != macro.name)
        fail("a macro with the name of " + quoted + " has its value too: write 'define " + macro.name + "'");
      const auto require_guarded = [&](const std::string& text, const std::string& where) {
        if (const int line = unguarded_definition(text, macro.name, defined); line != 0)
          fail("line " + std::to_string(line) + where + " defines " + quoted +
               " again, or undefines it, which would override this: put it between '#ifndef " + macro.name +
               "' and '#endif', or remove it");
      };
      require_guarded(spec_.source, "");
      for (const SourceFile& file : spec_.sources)
        if (!file.of_reference) require_guarded(file.text, " of " + file.path);
      if (!is_known_name(macro.value)) check(macro.value, Parameters::allowed, "");
      for (std::size_t i = 0; i < spec_.verify.size(); ++i) {
        for (const auto& [name, value] : spec_.verify[i].sizes) {
          if (!contains(macro.value.names(), name)) continue;
          const std::string key = "verify " + std::to_string(i);
          this->fail({key + " " + name, key},
                     in_quotes(name) + " is in macro " + quoted +
                         ", so code is compiled for one value of it: 'verify' cannot use another");
        }
      }
    }
  }

  void defaults() {
    if (!spec_.default_configuration) return;
    Bindings values;
    for (const auto& [name, value] : spec_.default_configuration->entries()) {
      const std::string key = "default " + name;
      const TuningParameter* parameter = spec_.space.find(name);
      if (!parameter)
        fail({key, "default"}, in_quotes(name) + " is no parameter of this kernel" +
                                   suggestion(name, names_of(spec_.space.parameters())));
      if (!contains(parameter->values, value)) {
        const std::vector<std::string> allowed = texts_of(parameter->values);
        fail({key, "default"}, name + "=" + value.text() + " is not one of: " + listed(allowed) +
                                   (value.is_string() ? suggestion(value.text(), allowed) : ""));
      }
      values.set(name, value);
    }
    for (const TuningParameter& parameter : spec_.space.parameters()) {
      if (!values.find(parameter.name)) fail({"default"}, "the default misses parameter " + in_quotes(parameter.name));
    }
    for (const Constraint& constraint : spec_.space.constraints()) {
      if (surely_violated(constraint.predicate, values)) {
        fail({"default"}, "the default violates " + in_quotes(constraint.name) + ": " + constraint.predicate.text());
      }
    }
  }

  /// Whether a conjunct that names only parameters is false. The others depend on the problem and the device.
  bool surely_violated(const Expression& predicate, const Bindings& values) const {
    const std::vector<Expression> parts = split_conjunction(predicate);
    return std::any_of(parts.begin(), parts.end(), [&](const Expression& part) {
      const auto is_size = [&](const std::string& name) { return spec_.find_size(name) != nullptr; };
      if (std::any_of(part.names().begin(), part.names().end(), is_size)) return false;
      try {
        return !part.evaluate_boolean(values);
      } catch (const EvaluationError&) {
        return false;
      }
    });
  }

  void require_element_type(const std::string& name, std::initializer_list<std::string> keys) const {
    const auto type = element_type(name);
    if (!type) fail(keys, "unknown type " + in_quotes(name) + suggestion(name, names_of(element_types())));
    if (info(*type).name != name)
      fail(keys, "type " + in_quotes(name) + " is written " + in_quotes(info(*type).name) + " here");
  }

  void require_type_choice(const std::string& name, std::initializer_list<std::string> keys) const {
    const ChoiceSpec* const choice = spec_.find_choice(name);
    if (choice != nullptr && choice->is_type) return;
    std::vector<std::string> names = names_of(spec_.choices);
    std::erase_if(names, [&](const std::string& one) { return !spec_.find_choice(one)->is_type; });
    fail(keys, in_quotes(name) + " is no type that the caller chooses" + suggestion(name, names));
  }
};

const ExpressionNode* place_of(const ExpressionNode& node, const std::string& name) {
  if (node.name == name) return &node;
  for (const auto& child : node.children) {
    if (const ExpressionNode* found = place_of(*child, name)) return found;
  }
  return nullptr;
}

}  // namespace

Checks::Checks(const KernelSpec& spec, const SpecPlaces& places)
    : spec_(spec),
      places_(places),
      all_(known_names(spec, Parameters::allowed)),
      fixed_(known_names(spec, Parameters::refused)) {}

void Checks::fail(std::initializer_list<std::string> keys, const std::string& message) const {
  for (const std::string& key : keys) {
    const auto at = places_.find(key);
    if (at != places_.end()) throw SpecError(at->second, message);
  }
  throw SpecError({spec_.file, 0, 0}, message);
}

void Checks::fail_at(const SourceLocation& place, const std::string& message) const {
  const bool is_known = place.line != 0 || !place.file.empty();
  throw SpecError(is_known ? place : SourceLocation{spec_.file, 0, 0}, message);
}

void Checks::check(const Expression& expression, Parameters parameters, const std::string& why) const {
  if (parameters == Parameters::refused) refuse_parameters(expression, why);
  check_names_of(expression, parameters == Parameters::refused ? fixed_ : all_);
}

void Checks::check_names_of(const Expression& expression, const KnownNames& known) const {
  try {
    check_names(expression, known);
  } catch (const SpecError& error) {
    if (error.location().line != 0 || !error.location().file.empty()) throw;
    throw SpecError({spec_.file, 0, 0}, std::string(error.what()) + " in " + in_quotes(expression.text()));
  }
}

void Checks::refuse_parameters(const Expression& expression, const std::string& why) const {
  for (const std::string& name : expression.names()) {
    if (!spec_.space.find(name)) continue;
    fail_at(place_of(*ExpressionAccess::root(expression), name)->location,
            in_quotes(name) + " is a parameter, and " + why);
  }
}

bool Checks::is_known_name(const Expression& value) const {
  return is_name(value) && all_.count(value.names().front()) != 0;
}

void Checks::require_type(const std::string& name, std::initializer_list<std::string> keys) const {
  const ChoiceSpec* const choice = spec_.find_choice(name);
  if (element_type(name) || (choice != nullptr && choice->is_type) || find_named(spec_.derived_types, name)) return;
  if (name.empty())
    fail(keys,
         "an element type is needed, as in ': float' or ': { float x; int id; }': the kernel has no 'type' to use "
         "instead");
  fail(keys, "unknown type " + in_quotes(name) +
                 suggestion(name, names_of(element_types(), spec_.choices, spec_.derived_types)));
}

void validate(const KernelSpec& spec, const SpecPlaces& places) { Validator(spec, places).run(); }
void validate(const KernelSpec& spec) { validate(spec, {}); }

}  // namespace tuner
