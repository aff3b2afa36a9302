#include <tuner/core/kernel_file/validate_launches.hpp>

#include <algorithm>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel_file/record_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

class LaunchChecks : public Checks {
 public:
  explicit LaunchChecks(const Checks& checks) : Checks(checks) {}

  void launches() const {
    if (spec_.launches.empty())
      throw SpecError(draft_.given.at("kernel"),
                      "the kernel has no launch: give 'instantiate', 'grid', 'block' and 'arguments'");
    for (const LaunchDraft& one : draft_.launches) {
      shape_is_whole(one);
      names_a_function(one);
    }
    for (const LaunchSpec& launch : spec_.launches) {
      if (launch.arguments.empty())
        throw SpecError(launch.location, "launch " + in_quotes(launch.name) + " has no 'arguments'");
      arguments(launch);
      if (launch.cooperative && spec_.device_launches)
        throw SpecError(launch.location,
                        "a cooperative launch cannot launch kernels: 'cooperative' and 'device_launches' "
                        "exclude each other");
      for (std::size_t i = 0; i < launch.arguments.size(); ++i) require_argument(launch, i);
    }
    untimed_launches();
  }

  void references() const {
    const std::string why = "a reference does not depend on parameters";
    const bool has_output = std::ranges::any_of(spec_.buffers, &BufferSpec::is_output);
    if (spec_.verification.default_is_reference) default_as_reference(has_output);
    answer_files();
    for (const LaunchSpec& reference : spec_.verification.reference) {
      if (!has_output)
        throw SpecError(reference.location,
                        "there is nothing to compare with a reference: the kernel has no 'out' or 'inout' buffer");
      without_parameters(reference, why);
    }
  }

  /// Served calls do not make these launches. They may therefore change only buffers that a caller sets up.
  void preparations() const {
    for (const LaunchSpec& launch : spec_.prepare) {
      const std::string name = "'prepare " + launch.name + "'";
      if (launch.arguments.empty()) throw SpecError(launch.location, name + " has no 'arguments'");
      without_parameters(launch, "what a run starts from does not depend on parameters");
      bool changes = false;
      const std::vector<std::string> taken = spec_.taken_by(launch);
      for (std::size_t i = 0; i < taken.size(); ++i) {
        const std::string& argument = taken[i];
        const BufferSpec* const buffer = spec_.find_buffer(argument);
        if (buffer == nullptr) continue;
        changes = changes || buffer->role == BufferRole::inout || buffer->role == BufferRole::consumed;
        if (buffer->is_work_space())
          fail_argument(
              launch, i,
              in_quotes(argument) +
                  " is work space, which no served call prepares: clear it in a launch of the kernel, or declare "
                  "it 'zeroed' and leave it zero, or 'consumed'");
      }
      if (!changes)
        throw SpecError(launch.location,
                        name +
                            " takes no 'inout' or 'consumed' buffer: there is nothing to prepare. 'out' buffers "
                            "have no contents before a run");
      in_the_references_text(launch);
    }
  }

 private:
  /// A launch of the kernel needs both a grid and a block. The others may leave out both.
  static void shape_is_whole(const LaunchDraft& one) {
    const bool is_of_kernel = one.role == LaunchDraft::Role::kernel;
    const std::string name = in_quotes(one.launch.name);
    const std::string subject = is_of_kernel                               ? "launch " + name
                                : one.role == LaunchDraft::Role::reference ? "the reference"
                                                                           : "'prepare " + one.launch.name + "'";
    for (const char* const missing : {"grid", "block"}) {
      const char* const other = missing[0] == 'g' ? "block" : "grid";
      if (one.given.contains(missing) || (!is_of_kernel && !one.given.contains(other))) continue;
      throw SpecError(one.launch.location, subject + (is_of_kernel ? "" : " has a " + in_quotes(other) + " but") +
                                               (is_of_kernel ? " has no " : " no ") + in_quotes(missing));
    }
  }

  /// A compiler would show its error in a text that nobody wrote.
  void names_a_function(const LaunchDraft& one) const {
    const std::string_view whole = one.launch.instantiate;
    const std::vector<std::string_view> words = words_of(whole.substr(0, whole.find('<')));
    if (words.empty() || draft_.names.contains(words.back())) return;
    const bool is_reference = one.role == LaunchDraft::Role::reference;
    const bool has_own_text = is_reference && spec_.has_reference_sources();
    const std::string& code = has_own_text ? draft_.reference_code : draft_.code;
    const bool makes_names = code.find("##") != npos;  // of parts
    if (makes_names || may_occur(spec_, is_reference ? ProgramPart::reference : ProgramPart::kernel, words.back()))
      return;
    std::vector<std::string> kernels;
    for (const Signature& head : find_signatures(code))
      if (!contains(kernels, head.name)) kernels.push_back(head.name);
    const std::string near = suggestion(words.back(), kernels);
    if (!near.empty())
      throw SpecError(one.instantiate_place.line > 0 ? one.instantiate_place : one.launch.location,
                      "the text has no function " + in_quotes(words.back()) + near);
  }

  /// Timed runs follow each other without the untimed launches, so no timed launch may need their results.
  void untimed_launches() const {
    bool left_out = false;
    for (const LaunchSpec& launch : spec_.launches) {
      if (left_out && !launch.untimed)
        throw SpecError(launch.location,
                        "launch " + in_quotes(launch.name) + " is timed after one that is not: untimed ones come last");
      if (!launch.untimed) continue;
      left_out = true;
      for (const std::string& argument : spec_.taken_by(launch)) {
        const BufferSpec* const buffer = spec_.find_buffer(argument);
        if (buffer != nullptr && buffer->role == BufferRole::zeroed)
          throw SpecError(launch.location, "launch " + in_quotes(launch.name) + " is untimed and takes " +
                                               in_quotes(argument) +
                                               ", which is 'zeroed': timed runs would find what others left there");
      }
    }
  }

  /// Checks a launch that must not use parameters.
  void without_parameters(const LaunchSpec& launch, const std::string& why) const {
    for (const std::string_view word : words_of(launch.instantiate)) {
      if (spec_.space.find(word)) throw SpecError(launch.location, in_quotes(word) + " is a parameter, and " + why);
    }
    arguments(launch);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      if (spec_.space.find(launch.arguments[i]))
        fail_argument(launch, i, in_quotes(launch.arguments[i]) + " is a parameter, and " + why);
      require_argument(launch, i);
      if (const TensorMapSpec* const map = spec_.find_tensor_map(launch.arguments[i]))
        for (const Expression& number : map->numbers) refuse_parameters(number, why);
    }
  }

  /// The reference starts from the same data, so its program needs the kernel that prepares them.
  void in_the_references_text(const LaunchSpec& prepare) const {
    if (!spec_.has_reference_sources()) return;
    const std::vector<std::string_view> words =
        words_of(std::string_view(prepare.instantiate).substr(0, prepare.instantiate.find('<')));
    if (words.empty() || may_occur(spec_, ProgramPart::reference, words.back())) return;
    throw SpecError(prepare.location, "the reference is compiled from its own sources and needs " +
                                          in_quotes(words.back()) +
                                          " too: define it in the kernel file, which is part of both programs");
  }

  static bool has_random_elements(const BufferSpec& buffer) {
    if (!buffer.record || buffer.fill) return is_random(buffer.fill);
    return std::ranges::any_of(buffer.record->fields, [](const RecordField& field) { return is_random(field.fill); });
  }

  void answer_files() const {
    const auto with_answer =
        std::ranges::find_if(spec_.buffers, [](const BufferSpec& buffer) { return buffer.answer.has_value(); });
    if (with_answer == spec_.buffers.end()) return;
    const auto fail = [&](const std::string& message) { throw SpecError(with_answer->answer->location, message); };
    if (!spec_.verification.reference.empty() || spec_.verification.default_is_reference)
      fail("the answer is in a file, but the kernel has another reference");
    for (const BufferSpec& buffer : spec_.buffers) {
      if (buffer.is_output() && !buffer.answer)
        fail("the answers are in files, but there is none for " + in_quotes(buffer.name) + ": add 'reference file " +
             buffer.name + " = \"...\"'");
      if (buffer.is_input() && has_random_elements(buffer))
        fail(in_quotes(buffer.name) +
             " is filled at random, but an answer in a file is for one set of inputs: give 'fill " + buffer.name +
             " = file \"...\"', or another fill that is the same each time");
    }
  }

  void default_as_reference(bool has_output) const {
    const auto fail = [&](const std::string& message) {
      throw SpecError(draft_.given.at("reference default"), message);
    };
    if (!has_output) fail("there is nothing to compare with a reference: the kernel has no 'out' or 'inout' buffer");
    if (!spec_.default_configuration)
      fail("'reference default' compares with the default configuration: give a 'default'");
    if (!spec_.verification.reference.empty())
      fail("the kernel has a reference: 'reference default' is for kernels without one");
    if (spec_.has_reference_sources())
      fail("'reference default' is compiled from the kernel's text: remove 'reference_source'");
  }

  /// Checks computed arguments, whose expressions have been checked.
  void arguments(const LaunchSpec& launch) const {
    for (const ComputedArgument& argument : launch.computed_arguments) {
      const auto plain = element_type(argument.type);
      if (is_floating_parameter(argument.value) && plain && !info(*plain).is_floating)
        throw SpecError(argument.value.location(),
                        in_quotes(argument.value.text()) + " has fractions, which " + argument.type + " cannot hold");
    }
  }

  void require_argument(const LaunchSpec& launch, std::size_t number) const {
    const std::string& name = launch.arguments[number];
    if (const BufferSpec* const buffer = spec_.find_buffer(name); buffer && buffer->role == BufferRole::constant)
      fail_argument(launch, number, in_quotes(name) + " is 'constant': a variable of the program, not an argument");
    if (spec_.find_buffer(name) || spec_.find_size(name) || spec_.find_scalar(name) || spec_.find_texture(name) ||
        spec_.find_tensor_map(name) || launch.find_computed(name) || name == kNullPointer)
      return;
    if (const TuningParameter* parameter = spec_.space.find(name)) {
      if (parameter->values.front().is_integer()) return;
      if (parameter->values.front().fraction())
        fail_argument(launch, number,
                      in_quotes(name) + " needs the type that the kernel takes, as in '" + name + " : float'");
      if (const Value& first = parameter->values.front(); first == Value(true) || first == Value(false))
        fail_argument(launch, number,
                      in_quotes(name) + " is true or false: write '(" + name +
                          " ? 1 : 0) : bool' for a kernel that "
                          "takes a bool");
      fail_argument(
          launch, number,
          in_quotes(name) + " is not an integer parameter and cannot be an argument; pass it in 'instantiate'");
    }
    const std::vector<std::string> names = names_of(spec_.space.parameters(), spec_.buffers, spec_.sizes, spec_.scalars,
                                                    spec_.textures, spec_.tensor_maps);
    fail_argument(launch, number,
                  "unknown argument " + in_quotes(name) +
                      ": no buffer, size, scalar, texture, tensor map or parameter" + suggestion(name, names));
  }

  [[noreturn]] static void fail_argument(const LaunchSpec& launch, std::size_t number, const std::string& message) {
    throw SpecError(number < launch.argument_locations.size() ? launch.argument_locations[number] : launch.location,
                    message);
  }
};

}  // namespace

void validate_launches(const Checks& checks) {
  const LaunchChecks launches(checks);
  launches.launches();
  launches.references();
  launches.preparations();
}

}  // namespace tuner
