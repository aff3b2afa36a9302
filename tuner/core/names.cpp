#include <tuner/core/kernel_program.hpp>

#include <tuner/core/named.hpp>
#include <tuner/core/token.hpp>

namespace tuner {
namespace {

/// Whether \p name cannot name a template argument, a macro or a variable in CUDA C++.
bool is_word_of_cuda(std::string_view name) {
  constexpr std::string_view kOfDeviceCode[] = {"blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize"};
  return is_word_of_cpp(name) || contains(kOfDeviceCode, name);
}

}  // namespace

void bind_device_limits(Bindings& bindings, const DeviceLimits& limits) {
  bindings.set("warp_size", limits.warp_size);
  bindings.set("sm_count", limits.sm_count);
  bindings.set("max_threads_per_block", limits.max_threads_per_block);
  bindings.set("max_threads_per_sm", limits.max_threads_per_sm);
  bindings.set("max_blocks_per_sm", limits.max_blocks_per_sm);
  bindings.set("max_shared_bytes", limits.max_shared_bytes);
  bindings.set("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  bindings.set("registers_per_block", limits.registers_per_block);
  bindings.set("max_grid_x", limits.max_grid[0]);
  bindings.set("max_grid_y", limits.max_grid[1]);
  bindings.set("cc", limits.compute_capability);
  bindings.set("is_host", limits.compute_capability == 0);
}

const std::vector<std::string>& device_limit_names() {
  // Never destroyed: destructors of static objects may launch kernels.
  static const auto& names = *new const std::vector<std::string>([] {
    Bindings bindings;
    bind_device_limits(bindings, {});
    return bindings.names();
  }());
  return names;
}

bool is_word_of_cpp(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
      "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char8_t",
      "char16_t",    "char32_t", "class",      "co_await",  "co_return", "co_yield",     "compl",
      "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
      "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
      "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
      "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
      "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
      "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
      "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
      "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
      "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
      "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
      "xor_eq"};
  return contains(kWords, name);
}

KnownNames known_names(const KernelSpec& spec) {
  KnownNames known;
  const std::vector<std::string> types = names_of(element_types());
  for (const std::string& name : device_limit_names()) known[name] = {};
  for (const SizeSpec& size : spec.sizes) known[size.name] = {};
  for (const DerivedTypeSpec& type : spec.derived_types) known[type.name] = {true, types};
  for (const ChoiceSpec& choice : spec.choices) {
    const bool is_word = choice.is_type || Value::parse(choice.values.front()).is_string();
    known[choice.name] = {is_word, choice.is_type ? types : choice.values};
  }
  for (const TuningParameter& parameter : spec.space.parameters())
    known[parameter.name] = {parameter.values.front().is_string(), texts_of(parameter.values)};
  return known;
}

std::string name_problem(std::string_view name) {
  if (!is_identifier(name)) return in_quotes(name) + " is not a name";
  if (is_reserved_word(name)) return in_quotes(name) + " is a word of the expression language";
  if (is_function_name(name)) return in_quotes(name) + " is a function of the expression language";
  if (element_type(name)) return in_quotes(name) + " is an element type";
  if (is_word_of_cuda(name)) return in_quotes(name) + " is a word of CUDA C++";
  if (contains(device_limit_names(), name)) return in_quotes(name) + " is a limit of the device";
  return {};
}

std::string possible_name(const std::string& name) { return name_problem(name).empty() ? name : name + '_'; }

}  // namespace tuner
