#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <tuner/core/literals.hpp>
#include <tuner/core/names.hpp>
#include <tuner/core/record_type.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/template_arguments.hpp>
#include <tuner/core/token.hpp>

namespace tuner {
namespace {

constexpr std::int64_t kMostOffset = 4096;

/// Checks a specification part by part, in the order in which authors write them.
class Validator {
 public:
  Validator(const KernelSpec& spec, const SpecPlaces& places) : spec_(spec), places_(places) {}

  void run() {
    if (!is_identifier(spec_.name))
      fail({"kernel"}, spec_.name.empty() ? "the kernel has no name" : in_quotes(spec_.name) + " is not a name");
    names();
    choices();
    derived_types();
    sizes();
    parameters();
    all_ = known_names(spec_, Parameters::allowed);
    fixed_ = known_names(spec_, Parameters::refused);
    words();
    for (const Constraint& constraint : spec_.space.constraints()) check(constraint.predicate, Parameters::allowed, "");
    buffers();
    launches();
    references();
    preparations();
    verifications();
    problem_expressions();
    compile_options();
    macros();
    constants();
    textures();
    defaults();
  }

 private:
  /// Throws SpecError at the place of the first of \p keys that has one.
  [[noreturn]] void fail(std::initializer_list<std::string> keys, const std::string& message) const {
    for (const std::string& key : keys) {
      const auto at = places_.find(key);
      if (at != places_.end()) throw SpecError(at->second, message);
    }
    throw SpecError({spec_.file, 0, 0}, message);
  }

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
    constexpr std::array<ElementType, 4> allowed{ElementType::int32, ElementType::uint32, ElementType::int64,
                                                 ElementType::uint64};
    for (const SizeSpec& size : spec_.sizes) {
      if (size.name == "offset")
        fail({size.name}, "a size cannot be called 'offset', which 'verify' uses for alignment");
      if (std::find(allowed.begin(), allowed.end(), size.type) == allowed.end()) {
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

  void buffers() {
    for (const BufferSpec& buffer : spec_.buffers) {
      require_type(buffer.type, {"type of " + buffer.name, buffer.name});
      const bool work_space = buffer.role == BufferRole::scratch || buffer.role == BufferRole::zeroed;
      check(buffer.count, work_space ? Parameters::allowed : Parameters::refused,
            "only scratch and zeroed buffers may depend on parameters");
      fill(buffer.name, buffer.name, buffer.type, {buffer.fill, buffer.computed_fill});
      if (buffer.record) {
        for (const RecordField& field : buffer.record->fields)
          fill(buffer.name + '.' + field.name, buffer.name, info(field.type).name, field.fill);
      }
      if (buffer.compared)
        of_element(*buffer.compared, "compare " + buffer.name, "all configurations are compared alike");
    }
    for (const ScalarSpec& scalar : spec_.scalars) require_type(scalar.type, {"type of " + scalar.name, scalar.name});
  }

  /// Checks the fill of \p name, a buffer or a field of one, with elements of \p type.
  void fill(const std::string& name, const std::string& buffer, std::string_view type, const FieldFill& given) {
    if (given.computed) return computed_fill(name, type, *given.computed);
    if (!given.numbers) return;
    const Fill& numbers = *given.numbers;
    if (!std::isfinite(numbers.low) || !std::isfinite(numbers.high) ||
        (numbers.kind == Fill::Kind::uniform && numbers.low >= numbers.high))
      fail({"fill " + name, buffer}, "the lower bound of a fill must be below the upper one");
  }

  void computed_fill(const std::string& name, std::string_view type_name, const ComputedFill& fill) {
    const std::string why = "inputs are the same for every configuration";
    for (const auto* bound : {&fill.low, &fill.high})
      if (*bound) check(**bound, Parameters::refused, why);
    if (!fill.element) return;
    of_element(*fill.element, "fill " + name + " = expression", why);
    const auto type = element_type(type_name);
    if (type && !info(*type).is_floating && fill.element->has_reals())
      throw SpecError(
          located(fill.element->location()),
          in_quotes(name) + " has elements of " + std::string(type_name) + ", which are filled with integers alone");
  }

  /// Checks an expression that may also use `i`, the index of an element.
  void of_element(const Expression& expression, const std::string& directive, const std::string& why) {
    if (all_.count("i") != 0)
      fail({"i"}, "'i' is the index of an element in " + in_quotes(directive) + ": call this otherwise");
    fixed_["i"] = {};
    check(expression, Parameters::refused, why);
    fixed_.erase("i");
  }

  void launches() {
    if (spec_.launches.empty())
      fail({"kernel"}, "the kernel has no launch: give 'instantiate', 'grid', 'block' and 'arguments'");
    std::set<std::string> names;
    for (std::size_t i = 0; i < spec_.launches.size(); ++i) {
      const LaunchSpec& launch = spec_.launches[i];
      if (!names.insert(launch.name).second) fail_at(launch, "two launches are called " + in_quotes(launch.name));
      if (launch.instantiate.empty()) fail_at(launch, "launch " + in_quotes(launch.name) + " has no 'instantiate'");
      if (launch.arguments.empty()) fail_at(launch, "launch " + in_quotes(launch.name) + " has no 'arguments'");
      shape(launch, Parameters::allowed, "");
      if (launch.cooperative && spec_.device_launches)
        fail_at(launch,
                "what is launched cooperatively cannot launch kernels: 'cooperative' and 'device_launches' "
                "exclude each other");
      for (const std::string& argument : launch.arguments)
        require_argument("argument " + std::to_string(i) + " ", launch, argument);
    }
    untimed_launches();
  }

  /// Timed runs follow each other without the untimed launches, so no timed launch may need their results.
  void untimed_launches() {
    bool left_out = false;
    for (const LaunchSpec& launch : spec_.launches) {
      if (left_out && !launch.untimed)
        fail_at(launch, "launch " + in_quotes(launch.name) + " is timed after one that is not: untimed ones come last");
      if (!launch.untimed) continue;
      left_out = true;
      for (const std::string& argument : launch.arguments) {
        const BufferSpec* const buffer = spec_.find_buffer(argument);
        if (buffer != nullptr && buffer->role == BufferRole::zeroed)
          fail_at(launch, "launch " + in_quotes(launch.name) + " is untimed and takes " + in_quotes(argument) +
                              ", which is 'zeroed': timed runs would find what others left there");
      }
    }
  }

  void references() {
    const std::string why = "a reference does not depend on parameters";
    const bool has_output = std::any_of(spec_.buffers.begin(), spec_.buffers.end(), [](const BufferSpec& buffer) {
      return buffer.role == BufferRole::out || buffer.role == BufferRole::inout;
    });
    if (spec_.default_is_reference) default_as_reference(has_output);
    answer_files();
    for (std::size_t i = 0; i < spec_.reference.size(); ++i) {
      const LaunchSpec& reference = spec_.reference[i];
      if (!has_output)
        fail_at(reference, "there is nothing to compare with a reference: the kernel has no 'out' or 'inout' buffer");
      if (reference.instantiate.empty()) fail_at(reference, "a reference needs a C++ name");
      if (reference.arguments.empty()) fail_at(reference, "the reference has no 'arguments'");
      without_parameters(reference, "reference argument " + std::to_string(i) + " ", why);
    }
  }

  /// Checks a launch that must not use parameters. The places of its arguments have keys that begin with \p key.
  void without_parameters(const LaunchSpec& launch, const std::string& key, const std::string& why) {
    for (const std::string_view word : words_of(launch.instantiate)) {
      if (spec_.space.find(word)) fail_at(launch, in_quotes(word) + " is a parameter, and " + why);
    }
    shape(launch, Parameters::refused, why);
    for (const std::string& argument : launch.arguments) {
      if (spec_.space.find(argument))
        fail_at(launch, key + argument, in_quotes(argument) + " is a parameter, and " + why);
      require_argument(key, launch, argument);
    }
  }

  /// Served calls do not make these launches. They may therefore change only buffers that a caller sets up.
  void preparations() {
    for (std::size_t i = 0; i < spec_.prepare.size(); ++i) {
      const LaunchSpec& launch = spec_.prepare[i];
      if (launch.instantiate.empty()) fail_at(launch, "'prepare' needs the C++ name of a kernel");
      const std::string name = "'prepare " + launch.name + "'", key = "prepare argument " + std::to_string(i) + " ";
      if (launch.arguments.empty()) fail_at(launch, name + " has no 'arguments'");
      without_parameters(launch, key, "what a run starts from does not depend on parameters");
      bool changes = false;
      for (const std::string& argument : launch.arguments) {
        const BufferSpec* const buffer = spec_.find_buffer(argument);
        if (buffer == nullptr) continue;
        changes = changes || buffer->role == BufferRole::inout || buffer->role == BufferRole::consumed;
        if (buffer->role == BufferRole::out)
          fail_at(launch, key + argument,
                  in_quotes(argument) + " is 'out', where what a run finds does not matter: declare it 'inout'");
        if (buffer->role == BufferRole::scratch || buffer->role == BufferRole::zeroed)
          fail_at(launch, key + argument,
                  in_quotes(argument) +
                      " is work space, which no served call prepares: clear it in a launch of the kernel, or declare "
                      "it 'zeroed' and leave it so");
      }
      if (!changes) fail_at(launch, name + " takes no 'inout' or 'consumed' buffer: there is nothing to prepare");
      in_the_references_text(launch);
    }
  }

  /// The reference starts from the same data, so its program needs the kernel that prepares them.
  void in_the_references_text(const LaunchSpec& prepare) const {
    if (!spec_.has_reference_sources()) return;
    const std::vector<std::string_view> words =
        words_of(std::string_view(prepare.instantiate).substr(0, prepare.instantiate.find('<')));
    if (words.empty() || may_occur(spec_, ProgramPart::reference, words.back())) return;
    fail_at(prepare, "the reference, which has a text of its own, begins with " + in_quotes(words.back()) +
                         " too: define it in the kernel file, which both are compiled with");
  }

  static bool has_random_elements(const BufferSpec& buffer) {
    const FieldFill whole{buffer.fill, buffer.computed_fill};
    if (!buffer.record || whole.computed) return is_drawn(whole);
    return std::any_of(buffer.record->fields.begin(), buffer.record->fields.end(),
                       [](const RecordField& field) { return is_drawn(field.fill); });
  }

  void answer_files() {
    const auto with_answer = std::find_if(spec_.buffers.begin(), spec_.buffers.end(),
                                          [](const BufferSpec& buffer) { return buffer.answer.has_value(); });
    if (with_answer == spec_.buffers.end()) return;
    const auto fail = [&](const std::string& message) {
      throw SpecError(located(with_answer->answer->location), message);
    };
    if (!spec_.reference.empty() || spec_.default_is_reference)
      fail("the answer is in a file, and the kernel has another reference");
    for (const BufferSpec& buffer : spec_.buffers) {
      const bool is_output = buffer.role == BufferRole::out || buffer.role == BufferRole::inout;
      const bool is_input =
          buffer.role != BufferRole::out && buffer.role != BufferRole::scratch && buffer.role != BufferRole::zeroed;
      if (is_output && !buffer.answer)
        fail("the answer is in files, and there is none of " + in_quotes(buffer.name) + ": add 'reference file " +
             buffer.name + " = \"...\"'");
      if (is_input && has_random_elements(buffer))
        fail(in_quotes(buffer.name) +
             " is filled at random, and an answer in a file is for one set of inputs: give 'fill " + buffer.name +
             " = file \"...\"', or another that is the same each time");
    }
  }

  void default_as_reference(bool has_output) {
    const std::string key = "reference default";
    if (!has_output)
      fail({key}, "there is nothing to compare with a reference: the kernel has no 'out' or 'inout' buffer");
    if (!spec_.default_configuration)
      fail({key}, "'reference default' takes what the default configuration computes for right: give a 'default'");
    if (!spec_.reference.empty())
      fail({key}, "the kernel has a reference: 'reference default' is for kernels without one");
    if (spec_.has_reference_sources())
      fail({key}, "'reference default' is compiled from the kernel's text: take 'reference_source' out");
  }

  void shape(const LaunchSpec& launch, Parameters parameters, const std::string& why) {
    for (const Expression& extent : launch.grid) check(extent, parameters, why);
    for (const Expression& extent : launch.block) check(extent, parameters, why);
    check(launch.shared_bytes, parameters, why);
    if (launch.when) check(*launch.when, parameters, why);
    if (launch.cooperative) check(*launch.cooperative, parameters, why);
    if (launch.untimed) check(*launch.untimed, parameters, why);
    for (const ComputedText& text : launch.computed_texts) {
      if (parameters == Parameters::refused) refuse_parameters(text.value, why);
      if (!is_known_name(text.value)) check(text.value, parameters, why);
    }
    for (const ComputedArgument& argument : launch.computed_arguments) {
      if (parameters == Parameters::refused) refuse_parameters(argument.value, why);
      if (is_known_name(argument.value) && all_.at(argument.value.names().front()).is_word &&
          !is_floating_parameter(argument.value))
        throw SpecError(located(argument.value.location()),
                        in_quotes(argument.value.text()) + " has words for values and cannot be an argument");
      if (!is_floating_parameter(argument.value)) check(argument.value, parameters, why);
      require_type(argument.type, {"type of " + argument.name});
      const auto plain = element_type(argument.type);
      if (is_floating_parameter(argument.value) && plain && !info(*plain).is_floating)
        fail({"type of " + argument.name},
             in_quotes(argument.value.text()) + " has fractions, which " + argument.type + " cannot hold");
    }
  }

  void verifications() {
    for (std::size_t i = 0; i < spec_.verify.size(); ++i) {
      const std::string key = "verify " + std::to_string(i);
      for (const auto& [name, value] : spec_.verify[i].sizes) {
        if (!spec_.find_size(name)) {
          std::vector<std::string> names{"offset"};
          for (const SizeSpec& size : spec_.sizes) names.push_back(size.name);
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
    for (const double bound : {spec_.tolerance->relative, spec_.tolerance->absolute}) {
      if (!std::isfinite(bound) || bound < 0) fail({"tolerance"}, "a tolerance is a number from 0 up");
    }
  }

  /// Whether \p value is just one name, which may be a word.
  bool is_known_name(const Expression& value) const { return is_name(value) && all_.count(value.names().front()) != 0; }

  bool is_floating_parameter(const Expression& value) const {
    const TuningParameter* const named = is_known_name(value) ? spec_.space.find(value.names().front()) : nullptr;
    return named != nullptr && std::all_of(named->values.begin(), named->values.end(),
                                           [](const Value& one) { return is_floating_literal(one.text()); });
  }

  void macros() {
    std::set<std::string> seen, defined;
    for (const MacroSpec& macro : spec_.macros) defined.insert(macro.name);
    for (const MacroSpec& macro : spec_.macros) {
      const auto fail = [&](const std::string& message) { throw SpecError(located(macro.location), message); };
      const std::string quoted = in_quotes(macro.name);
      if (!is_identifier(macro.name)) fail(quoted + " is not a name");
      if (macro.name.starts_with("TUNER")) fail(quoted + ": macros that begin with TUNER are tuner's");
      if (!seen.insert(macro.name).second) fail(quoted + " is defined twice");
      if (all_.count(macro.name) != 0 && macro.value.text() != macro.name)
        fail("a macro that is called like " + quoted + " has its value: write 'define " + macro.name + "'");
      const auto require_guarded = [&](const std::string& text, const std::string& where) {
        if (const int line = unguarded_definition(text, macro.name, defined); line != 0)
          fail("line " + std::to_string(line) + where + " defines " + quoted +
               " anew, or takes it away, which would hide this: put it between '#ifndef " + macro.name +
               "' and '#endif', or take it out");
      };
      require_guarded(spec_.source, "");
      for (const SourceFile& file : spec_.sources)
        if (!file.of_reference) require_guarded(file.text, " of " + file.path);
      if (!is_known_name(macro.value)) check(macro.value, Parameters::allowed, "");
      for (std::size_t i = 0; i < spec_.verify.size(); ++i) {
        for (const auto& [name, value] : spec_.verify[i].sizes) {
          const auto& used = macro.value.names();
          if (std::find(used.begin(), used.end(), name) == used.end()) continue;
          const std::string key = "verify " + std::to_string(i);
          this->fail({key + " " + name, key},
                     in_quotes(name) + " is in macro " + quoted +
                         ", so that code is made for one value of it: 'verify' cannot have another");
        }
      }
    }
  }

  void constants() {
    for (const BufferSpec& buffer : spec_.buffers)
      if (buffer.role == BufferRole::constant && !may_occur(spec_, ProgramPart::kernel, buffer.name))
        fail({buffer.name}, "the program has no variable " + in_quotes(buffer.scope + buffer.name));
  }

  void textures() {
    for (const TextureSpec& texture : spec_.textures) {
      const auto fail = [&](const std::string& message) { throw SpecError(located(texture.location), message); };
      const std::string quoted = in_quotes(texture.name), what = texture.is_surface ? "surface " : "texture ";
      const BufferSpec* const buffer = spec_.find_buffer(texture.buffer);
      if (buffer == nullptr) {
        std::vector<std::string> names;
        for (const BufferSpec& one : spec_.buffers) names.push_back(one.name);
        fail("unknown buffer " + in_quotes(texture.buffer) + suggestion(texture.buffer, names));
      }
      const bool is_written = buffer->role == BufferRole::out || buffer->role == BufferRole::inout;
      if (buffer->role != BufferRole::in && !(texture.is_surface && is_written))
        fail(what + quoted + " is one of " + in_quotes(buffer->name) +
             (texture.is_surface ? ", which is no 'in', 'out' or 'inout' buffer" : ", which is no 'in' buffer"));
      if (buffer->record) fail(what + quoted + " holds numbers, and " + in_quotes(buffer->name) + " structs");
      if (buffer->components == 3 || buffer->components > 4)
        fail(what + quoted + " has elements of 1, 2 or 4 numbers, not of " + std::to_string(buffer->components));
      for (const Expression& extent : texture.extent)
        check(extent, Parameters::refused, "textures are the same for every configuration");
      if (!texture.reading.normalized && (texture.reading.outside == TextureReading::Outside::wrap ||
                                          texture.reading.outside == TextureReading::Outside::mirror))
        fail("'wrap' and 'mirror' are for 'normalized' coordinates");
      kind_of_memory(texture, fail);
      if (texture.is_surface) not_by_pointer(texture, fail);
    }
  }

  /// tex1Dfetch and tex1D read different kinds of memory. On a GPU the wrong one reports no error.
  template <typename Fail>
  void kind_of_memory(const TextureSpec& texture, const Fail& fail) const {
    if (texture.is_surface || texture.extent.size() > 1) {
      if (texture.reading.fetched) fail("only a texture of one dimension can be 'fetched'");
      return;
    }
    const auto has = [&](std::initializer_list<const char*> functions) {
      return std::any_of(functions.begin(), functions.end(), [&](const char* function) {
        return may_occur(spec_, ProgramPart::kernel, function) || may_occur(spec_, ProgramPart::reference, function);
      });
    };
    const bool fetches = has({"tex1Dfetch"}), samples = has({"tex1D", "tex1DLod", "tex1DGrad", "tex1DLayered"});
    if (!texture.reading.fetched && fetches && !samples)
      fail("the kernel reads with tex1Dfetch, which takes memory of another kind: say so, as in 'texture " +
           texture.name + " = " + texture.buffer + "[...] fetched'");
    if (texture.reading.fetched && samples && !fetches)
      fail("the kernel reads with tex1D, and 'fetched' is memory of another kind, for tex1Dfetch: leave it out");
    if (texture.reading.fetched && texture.reading.outside != TextureReading::Outside::clamp)
      fail("what tex1Dfetch reads outside is zero: leave out what is said of it");
  }

  /// After a run the elements of a surface are copied to its buffer, over anything that was written there.
  template <typename Fail>
  void not_by_pointer(const TextureSpec& surface, const Fail& fail) const {
    for (const auto* const launches : {&spec_.launches, &spec_.reference}) {
      const auto takes = [&](const std::string& name) {
        return std::any_of(launches->begin(), launches->end(), [&](const LaunchSpec& launch) {
          return std::count(launch.arguments.begin(), launch.arguments.end(), name) > 0;
        });
      };
      if (takes(surface.name) && takes(surface.buffer))
        fail("the kernel is given " + in_quotes(surface.buffer) + " through " + in_quotes(surface.name) +
             " and by its pointer too: what it writes through one would be lost to the other");
    }
    if (spec_.find_buffer(surface.buffer)->role != BufferRole::inout) return;
    for (const LaunchSpec& launch : spec_.prepare)
      if (std::count(launch.arguments.begin(), launch.arguments.end(), surface.buffer) > 0)
        fail("'prepare' changes " + in_quotes(surface.buffer) + ", and a surface holds a copy of it");
  }

  void compile_options() {
    for (const CompileOptionSpec& option : spec_.compile_options) {
      const auto fail = [&](const std::string& message) { throw SpecError(located(option.location), message); };
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

  void defaults() {
    if (!spec_.default_configuration) return;
    Bindings values;
    for (const auto& [name, value] : spec_.default_configuration->entries()) {
      const std::string key = "default " + name;
      const TuningParameter* parameter = spec_.space.find(name);
      if (!parameter)
        fail({key, "default"},
             in_quotes(name) + " is no parameter of this kernel" + suggestion(name, parameter_names()));
      if (std::find(parameter->values.begin(), parameter->values.end(), value) == parameter->values.end()) {
        std::vector<std::string> allowed;
        std::string list;
        for (const Value& one : parameter->values) {
          allowed.push_back(one.text());
          list += (list.empty() ? "" : " ") + one.text();
        }
        fail({key, "default"}, name + "=" + value.text() + " is not one of: " + list +
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

  void refuse_parameters(const Expression& expression, const std::string& why) const {
    for (const std::string& name : expression.names()) {
      if (!spec_.space.find(name)) continue;
      const SourceLocation& place = place_of(*ExpressionAccess::root(expression), name)->location;
      throw SpecError(located(place), in_quotes(name) + " is a parameter, and " + why);
    }
  }

  /// \p why: the reason in the message if the expression names a parameter that is refused.
  void check(const Expression& expression, Parameters parameters, const std::string& why) const {
    if (parameters == Parameters::refused) refuse_parameters(expression, why);
    try {
      check_names(expression, parameters == Parameters::refused ? fixed_ : all_);
    } catch (const SpecError& error) {
      if (error.location().line != 0 || !error.location().file.empty()) throw;
      throw SpecError({spec_.file, 0, 0}, std::string(error.what()) + " in " + in_quotes(expression.text()));
    }
  }

  SourceLocation located(const SourceLocation& place) const {
    return place.line == 0 && place.file.empty() ? SourceLocation{spec_.file, 0, 0} : place;
  }

  static const ExpressionNode* place_of(const ExpressionNode& node, const std::string& name) {
    if (node.name == name) return &node;
    for (const auto& child : node.children) {
      if (const ExpressionNode* found = place_of(*child, name)) return found;
    }
    return nullptr;
  }

  [[noreturn]] void fail_at(const LaunchSpec& launch, const std::string& message) const {
    throw SpecError(located(launch.location), message);
  }
  [[noreturn]] void fail_at(const LaunchSpec& launch, const std::string& key, const std::string& message) const {
    const auto at = places_.find(key);
    throw SpecError(at != places_.end() ? at->second : located(launch.location), message);
  }

  void require_argument(const std::string& key, const LaunchSpec& launch, const std::string& name) const {
    if (const BufferSpec* const buffer = spec_.find_buffer(name); buffer && buffer->role == BufferRole::constant)
      fail_at(launch, key + name, in_quotes(name) + " is 'constant': a variable of the program and no argument");
    if (spec_.find_buffer(name) || spec_.find_size(name) || spec_.find_scalar(name) || spec_.find_texture(name) ||
        launch.find_computed(name))
      return;
    if (const TuningParameter* parameter = spec_.space.find(name)) {
      if (parameter->values.front().is_integer()) return;
      if (is_floating_literal(parameter->values.front().text()))
        fail_at(launch, key + name,
                in_quotes(name) + " needs the type that the kernel takes, as in '" + name + " : float'");
      fail_at(launch, key + name,
              in_quotes(name) + " is not an integer parameter and cannot be an argument; pass it in 'instantiate'");
    }
    std::vector<std::string> names = parameter_names();
    for (const BufferSpec& buffer : spec_.buffers) names.push_back(buffer.name);
    for (const SizeSpec& size : spec_.sizes) names.push_back(size.name);
    for (const ScalarSpec& scalar : spec_.scalars) names.push_back(scalar.name);
    for (const TextureSpec& texture : spec_.textures) names.push_back(texture.name);
    fail_at(launch, key + name,
            "unknown argument " + in_quotes(name) + ": no buffer, size, scalar, texture or parameter" +
                suggestion(name, names));
  }

  void require_type(const std::string& name, std::initializer_list<std::string> keys) const {
    if (element_type(name) || is_type_choice(name)) return;
    const auto is_named = [&](const DerivedTypeSpec& type) { return type.name == name; };
    if (std::any_of(spec_.derived_types.begin(), spec_.derived_types.end(), is_named)) return;
    if (name.empty())
      fail(keys,
           "an element type is needed, as in ': float' or ': { float x; int id; }': the kernel has no 'type' to use "
           "instead");
    fail(keys, "unknown type " + in_quotes(name) + suggestion(name, type_names(true)));
  }

  void require_element_type(const std::string& name, std::initializer_list<std::string> keys) const {
    const auto type = element_type(name);
    if (!type) fail(keys, "unknown type " + in_quotes(name) + suggestion(name, type_names(false)));
    if (info(*type).name != name)
      fail(keys, "type " + in_quotes(name) + " is written " + in_quotes(info(*type).name) + " here");
  }

  bool is_type_choice(std::string_view name) const {
    const ChoiceSpec* choice = spec_.find_choice(name);
    return choice && choice->is_type;
  }

  void require_type_choice(const std::string& name, std::initializer_list<std::string> keys) const {
    if (is_type_choice(name)) return;
    std::vector<std::string> names;
    for (const ChoiceSpec& choice : spec_.choices) {
      if (choice.is_type) names.push_back(choice.name);
    }
    fail(keys, in_quotes(name) + " is no type that the caller chooses" + suggestion(name, names));
  }

  std::vector<std::string> type_names(bool of_this_kernel) const {
    std::vector<std::string> names;
    for (const ElementTypeInfo& type : element_types()) names.emplace_back(type.name);
    if (!of_this_kernel) return names;
    for (const ChoiceSpec& choice : spec_.choices) names.push_back(choice.name);
    for (const DerivedTypeSpec& type : spec_.derived_types) names.push_back(type.name);
    return names;
  }

  std::vector<std::string> parameter_names() const {
    std::vector<std::string> names;
    for (const TuningParameter& parameter : spec_.space.parameters()) names.push_back(parameter.name);
    return names;
  }

  const KernelSpec& spec_;
  const SpecPlaces& places_;
  KnownNames all_, fixed_;
};

}  // namespace

void validate(const KernelSpec& spec, const SpecPlaces& places) { Validator(spec, places).run(); }
void validate(const KernelSpec& spec) { validate(spec, {}); }

}  // namespace tuner
