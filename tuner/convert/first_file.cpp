#include <tuner/convert/first_file.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#include <tuner/convert/first_access.hpp>
#include <tuner/convert/first_body.hpp>
#include <tuner/convert/first_shape.hpp>
#include <tuner/convert/first_template.hpp>
#include <tuner/convert/source_files.hpp>
#include <tuner/convert/written_struct.hpp>
#include <tuner/core/cpp/declared_types.hpp>
#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/kernel_file/record_type.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;

/// A usual value for an integer that does not grow with a problem, by its name; 0 for an offset.
std::optional<int> small_value(std::string_view name) {
  constexpr std::pair<std::string_view, int> endings[] = {
      {"stride", 1},      {"pad", 1},         {"padding", 1}, {"dilation", 1}, {"ksize", 3}, {"channels", 3},
      {"kernel_size", 3}, {"filter_size", 3}, {"radius", 1},  {"off", 0},      {"offset", 0}};
  const std::string lower = lower_case(name);
  for (const auto& [ending, value] : endings)
    if (lower.ends_with(ending)) return value;
  return std::nullopt;
}

/// Where the text of \p kernel ends.
std::size_t end_of(std::string_view code, const Signature& kernel) {
  const std::size_t next = std::min(code.find("__global__", kernel.end), code.size());
  const std::string_view body = in_braces(code.substr(0, next), kernel.end);
  return body.empty() ? next : static_cast<std::size_t>(body.data() - code.data()) + body.size();
}

/// Writes a kernel file from the head and body of its kernel, with a comment for each question that they leave open.
class Writer {
 public:
  Writer(const ScopedCode& code, const ScopedCode& all, Signature kernel)
      : kernel_(std::move(kernel)),
        scoped_(code),
        all_(all),
        code_(code.text()),
        body_(code_.substr(kernel_.begin, end_of(code_, kernel_) - kernel_.begin)),
        shape_(code, all, kernel_, body_),
        instantiate_(code.namespaces_at(kernel_.begin) + kernel_.name) {
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i)
      if (std::string& name = kernel_.arguments[i].name; name.empty()) name = fmt::format("argument_{}", i + 1);
    read_template();
    read_arguments();
    read_constants();
  }

  std::string text(const std::string& source, const std::vector<std::string>& include_paths) {
    std::string grid, preset, fixed;
    for (const FirstShape::Parameter& one : shape_.parameters()) {
      if (one.is_fixed) fixed += (fixed.empty() ? "" : ", ") + one.name;
      if (!is_parameter(one.name)) add("parameter", fmt::format("{} = {}", one.name, one.values));
      preset += fmt::format(" {}={}", one.name, one.usual);
    }
    if (!fixed.empty()) ask(fmt::format("Which other values may {} have?", fixed));
    bool is_guess = false;
    std::vector<std::string> multiples;
    for (std::size_t axis = 0; axis < shape_.grid_dimensions(); ++axis) {
      const FirstShape::GridExtent extent = shape_.grid(axis, sizes_);
      for (const std::string& name : extent.host_variables) add_host_variable(name);
      is_guess = is_guess || extent.is_guess;
      grid += (axis == 0 ? "" : ", ") + extent.text;
      if (const std::string multiple = whole_blocks(extent.text); !multiple.empty() && !contains(multiples, multiple))
        multiples.push_back(multiple);
    }
    if (const std::string block = shape_.unknown_block(); !block.empty())
      ask(fmt::format("The text's block is {}, which only the host knows: is this one right?", in_quotes(block)));
    ask(is_guess ? fmt::format("The text's grid is {}: is this guess the same?", in_quotes(shape_.written_grid()))
        : sizes_.empty() && host_variables_.empty() ? "How many blocks does a launch have? No argument is a size."
                                                    : "Is this the grid of your launches?");
    lines_ += buffers_;
    add("block", fmt::format("{}", fmt::join(shape_.block(), ", ")));
    add("grid", grid);
    if (!multiples.empty()) ask("The grid has whole blocks only: are all your sizes multiples of them?");
    for (std::size_t i = 0; i < multiples.size(); ++i)
      add("constraint", fmt::format("multiples_{}: {}", i + 1, multiples[i]));
    add_attributes();
    add_shared();
    if (instantiate_ != kernel_.name) add("instantiate", instantiate_);
    add("arguments", fmt::format("{}", fmt::join(arguments_, ", ")));
    if (!bytes_.empty()) add("bytes", bytes_);
    add("default", (preset + other_presets_).substr(1));
    ask("What is right? A plain kernel here finds mistakes of all configurations: docs/kernel-files.md, `reference`.");
    if (!has_out_)
      lines_ +=
          "// No buffer is `out`: `tune check` does not find elements that the kernel, or this grid, leaves out.\n";
    add("reference", "default");
    lines_ += '\n';
    for (const std::string& path : include_paths) add("include_path", fmt::format("\"{}\"", path));
    add("source", fmt::format("\"{}\"", source));
    return fmt::format("// How to tune {}. Lines with ? are questions; `tune check` finds mistakes.\n\n{}",
                       kernel_.name, header() + lines_);
  }

  std::vector<std::string> questions() const { return questions_; }

  bool takes_pointers() const {
    return std::ranges::any_of(kernel_.arguments,
                               [&](const NamedType& one) { return one.is_pointer() || has_pointers(one); });
  }

 private:
  static std::string line(std::string_view directive, const std::string& rest) {
    if (rest.empty()) return fmt::format("#pragma tuner {}\n", directive);
    return fmt::format("#pragma tuner {:<11} {}\n", directive, rest);
  }
  /// `n % T == 0` of a grid `max(1, n / T)`, which leaves out a last block that is not whole; else empty.
  std::string whole_blocks(std::string_view grid) const {
    constexpr std::string_view kBegin = "max(1, ", kDivided = " / ";
    const std::size_t divided = grid.find(kDivided);
    if (!grid.starts_with(kBegin) || divided == npos) return {};
    const std::string size(grid.substr(kBegin.size(), divided - kBegin.size()));
    const std::string_view block = grid.substr(divided + kDivided.size(), grid.size() - divided - kDivided.size() - 1);
    if (!contains(sizes_, size) || word_at(block, 0) != block) return {};
    return fmt::format("{} % {} == 0", size, block);
  }

  void add(std::string_view directive, const std::string& rest) { lines_ += line(directive, rest); }
  std::string question(const std::string& text) {
    questions_.push_back(text);
    return "// ? " + text + '\n';
  }
  void ask(const std::string& text) { lines_ += question(text); }

  static bool is_for_indices(const std::string& type) {
    const std::string name = lower_case(type);
    return name == "i" || name.find("idx") != npos || name.find("index") != npos || name.find("size") != npos ||
           name.find("offset") != npos;
  }
  bool is_parameter(const std::string& name) const { return contains(parameters_, name); }

  /// Adds a size for a variable that the grid needs and that no argument gives to the kernel.
  void add_host_variable(const std::string& name) {
    if (contains(host_variables_, name)) return;
    host_variables_.push_back(name);
    sizes_text_ +=
        question(fmt::format("Only the host knows {}, which the grid has: which value is usual, and which buffers grow "
                             "with it?",
                             name)) +
        line("size", name + " = 1");
  }

  std::string header() const { return line("kernel", kernel_.name) + types_ + sizes_text_; }

  void add_attributes() {
    if (shape_.launch() == nullptr) return;
    add_cluster(shape_.launch()->cluster);
    add_condition("cooperative", shape_.launch()->cooperative);
    add_condition("dependent", shape_.launch()->dependent);
  }

  void add_cluster(const std::vector<std::string>& written) {
    std::vector<std::int64_t> extents;
    for (const std::string& one : written) {
      const std::optional<std::int64_t> value = shape_.value_in_launch(one);
      if (!value)
        return ask(
            fmt::format("The text's launch has clusters of {}, which only the host knows: which `cluster` has it?",
                        fmt::join(written, ", ")));
      extents.push_back(*value);
    }
    if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent != 1; }))
      add("cluster", fmt::format("{}", fmt::join(extents, ", ")));
  }

  void add_condition(std::string_view directive, const std::string& written) {
    if (written.empty()) return;
    const std::optional<std::int64_t> value = shape_.value_in_launch(written);
    if (!value)
      ask(fmt::format("The text's launch is `{}` if {}, which only the host knows: is it?", directive,
                      in_quotes(written)));
    else if (*value != 0)
      add(directive, "");
  }

  /// The bytes that the launch has, or a question if they are not in the text. Then, a number for each thread is
  /// likely.
  void add_shared() {
    const auto shared = shape_.shared(sizes_);
    const std::string type = dynamic_shared_type(body_);
    if (shared && !shared->empty()) return add("shared", *shared);
    if (shared && type.empty()) return;
    ask("How many bytes of dynamic shared memory does a block have? The text does not say it.");
    const auto numbers = this->numbers(type);
    add("shared",
        fmt::format("{} * sizeof({})", fmt::join(shape_.block(), " * "), numbers ? info(numbers->type).name : "float"));
  }

  void read_template() {
    std::vector<std::string> written;
    for (const TemplateParameter& one : shape_.template_parameters()) written.push_back(template_argument(one));
    if (!kernel_.template_parameters.empty()) instantiate_ += fmt::format("<{}>", fmt::join(written, ", "));
  }

  /// Whether an argument of the kernel has the type \p name.
  bool is_argument_type(const std::string& name) const {
    return std::ranges::any_of(kernel_.arguments, [&](const NamedType& one) { return has_word(one.type, name); });
  }

  /// The text for \p one in the name of the kernel: the argument of the launch, or the name of a parameter.
  std::string template_argument(const TemplateParameter& one) {
    using enum TemplateParameter::Kind;
    switch (one.kind) {
      case type:
        return type_argument(one);
      case integer:
        if (const auto* const block = find_named(shape_.parameters(), one.name))
          return add_template_parameter(one.name, block->values);
        if (!one.value && !one.argument.empty()) return one.argument;
        ask(fmt::format("Which {}values may {} have?", one.value ? "other " : "", one.name));
        other_presets_ += fmt::format(" {}={}", one.name, one.value.value_or(1));
        return add_template_parameter(one.name, one.value ? std::to_string(*one.value) : "1 2 4");
      case flag:
        if (!one.written.empty() && !one.argument.empty()) return one.argument;
        ask(fmt::format("Which values may {} have?", one.name));
        other_presets_ += fmt::format(" {}={}", one.name, one.argument.empty() ? "false" : one.argument);
        return add_template_parameter(one.name, "false true");
      case other:
        break;
    }
    if (!one.argument.empty()) return qualified(all_, kernel_, one);
    if (const auto all = enumerators_of(all_, kernel_, one.type)) {
      ask(fmt::format("Does the caller choose {}? If all its values compute the same, make it a `parameter`.",
                      one.name));
      add("choice", fmt::format("{} = {}", one.name, fmt::join(all->names, " ")));
      return all->path + one.name;
    }
    ask(fmt::format("{}, a {}, has which value? No launch in the text has one.", one.name, one.type));
    return fmt::format("static_cast<{}>(0)", one.type);
  }

  std::string add_template_parameter(const std::string& name, const std::string& values) {
    parameters_.push_back(name);
    add("parameter", fmt::format("{} = {}", name, values));
    return name;
  }

  /// A `type` for a type of numbers that the kernel's arguments have; any other as it is in the launch.
  std::string type_argument(const TemplateParameter& one) {
    const auto numbers = one.argument.empty() ? std::nullopt : this->numbers(one.argument);
    const bool is_element = numbers && numbers->components == 1;
    if (!one.argument.empty() && !(is_element && is_argument_type(one.name))) {
      const std::string name = qualified(all_, kernel_, one);
      for (NamedType& argument : kernel_.arguments)
        argument.type =
            replace_words(argument.type, [&](auto word) { return word == one.name ? name : std::string(word); });
      return name;
    }
    types_ += question(fmt::format("Which {}types is {} for?", is_element ? "other " : "", one.name)) +
              line("type", fmt::format("{} = {}", one.name,
                                       is_element                 ? info(numbers->type).name
                                       : is_for_indices(one.name) ? "int"
                                                                  : "float"));
    type_names_.push_back(one.name);
    return one.name;
  }

  /// \p type as the kernel's arguments use it.
  UsedName used(std::string type) const { return used_by(all_, kernel_, std::move(type)); }
  std::optional<VectorType> numbers(const std::string& type) const {
    const auto numbers = numbers_of(type);
    return numbers ? numbers : numbers_of(all_, used(type));
  }

  /// The name in kernel files; empty for a type that they do not have.
  std::string type_of(const NamedType& argument) const {
    const std::string type = plain_type(argument.type);
    if (contains(type_names_, type)) return type;
    const auto numbers = this->numbers(type);
    if (!numbers) return "";
    return numbers->components == 1 ? std::string(info(numbers->type).name)
           : numbers_of(type)       ? type
                                    : fmt::format("{}[{}]", info(numbers->type).name, numbers->components);
  }

  /// The arguments that may be sizes: first those that grow with a problem, then small ones. An offset is neither.
  void read_sizes() {
    std::vector<std::string> small;
    const std::vector<NamedType> all = with_members();
    std::vector<const NamedType*> candidates;
    for (const NamedType& one : all)
      if (!one.is_pointer() && is_size(one) &&
          std::ranges::none_of(candidates, [&](const auto* other) { return other->name == one.name; }))
        candidates.push_back(&one);
    const bool all_are_small =
        std::ranges::all_of(candidates, [](const NamedType* one) { return small_value(one->name).has_value(); });
    for (const NamedType* const one : candidates) {
      const auto value = all_are_small ? std::nullopt : small_value(one->name);
      const std::string name = possible_name(one->name);
      if (value) small_values_.emplace(name, *value);
      if (value != 0) (value ? small : sizes_).push_back(name);
    }
    const bool has_sizes = !sizes_.empty() || !small.empty();
    if (has_sizes) sizes_text_ += question("Are these the extents of a typical problem?");
    if (!has_sizes) sizes_ = constant_extents();
    // The buffers have at most some megabytes if there is much to ask.
    constexpr std::array<int, 3> usual{16'777'216, 4096, 256}, beside_small{262'144, 512, 64}, structs{16'384, 128, 32};
    // `n` of both axes of a grid is the extent of a square.
    const std::size_t large = sizes_.size(), axes = large == 1 ? shape_.axes_of(sizes_[0]) : 1;
    const bool has_structs = std::ranges::any_of(kernel_.arguments, [&](const NamedType& one) {
      return one.is_pointer() && record_called(all_, used(plain_type(one.type)));
    });
    if (large > 0)
      extent_ = (has_structs                   ? structs
                 : large > 3 || !small.empty() ? beside_small
                                               : usual)
                    .at(std::min<std::size_t>(large * axes, 3) - 1);
    sizes_.insert(sizes_.end(), small.begin(), small.end());
    std::vector<std::string> first(sizes_.begin(), sizes_.begin() + std::min<std::ptrdiff_t>(std::ssize(sizes_), 3));
    if (axes > 1) first.assign(axes, sizes_[0]);
    count_ = first.empty() ? "1" : fmt::format("{}", fmt::join(first, " * "));
  }

  /// The constants that indices of pointers name, such as WIDTH of `a[y * WIDTH + x]`, one for each axis.
  std::vector<std::string> constant_extents() const {
    std::vector<std::string> extents;
    for (const std::string& word : words_in_indices(body_, kernel_.arguments))
      if (!find_named(shape_.parameters(), word) && !is_parameter(word) && constant_called(all_, word).value_or(1) > 1)
        extents.push_back(word);
    while (extents.size() == 1 && extents.size() < shape_.grid_dimensions()) extents.push_back(extents[0]);
    return extents;
  }

  void read_arguments() {
    read_sizes();
    for (const NamedType& one : kernel_.arguments) {
      const std::string name = possible_name(one.name), type = type_of(one);
      arguments_.push_back(name);
      if (has_pointers(one))
        add_struct(one);
      else if (!add_pointer_or_size(one))
        add_scalar(one, type);
    }
  }

  /// Whether \p one is a struct by value that has pointers.
  bool has_pointers(const NamedType& one) const {
    if (one.is_pointer() || contains(type_names_, plain_type(one.type))) return false;
    const auto record = struct_by_value(all_, used(plain_type(one.type)));
    return record && record->has_pointers();
  }

  /// The members of a struct that has_pointers(), in order. Pointers get names that nothing else has.
  std::vector<NamedType> members_of(const NamedType& of) const {
    std::vector<NamedType> members;
    const std::optional<RecordType> record = struct_by_value(all_, used(plain_type(of.type)));
    for (const RecordField& field : record->fields)
      for (int i = 0; i < field.count; ++i) {
        std::string name = field_name(field.name) + (field.count == 1 ? "" : '_' + std::to_string(i));
        const auto has_it = [&](const NamedType& other) { return &other != &of && is_or_has(other, field.name); };
        if (!field.pointer.empty() && std::ranges::any_of(kernel_.arguments, has_it)) name = of.name + '_' + name;
        members.push_back({field.pointer.empty() ? std::string(info(field.type).name) : field.pointer, name});
      }
    return members;
  }

  bool is_or_has(const NamedType& one, const std::string& name) const {
    if (one.name == name) return true;
    const auto record = one.is_pointer() ? std::nullopt : struct_by_value(all_, used(plain_type(one.type)));
    return record && find_named(record->fields, name) != nullptr;
  }

  /// The arguments of the kernel, with the members of structs that has_pointers() in their place.
  std::vector<NamedType> with_members() const {
    std::vector<NamedType> all;
    for (const NamedType& one : kernel_.arguments) {
      const std::vector<NamedType> these = has_pointers(one) ? members_of(one) : std::vector<NamedType>{one};
      all.insert(all.end(), these.begin(), these.end());
    }
    return all;
  }

  /// Adds a buffer or a size for \p one. Adds nothing and returns false if it is neither.
  bool add_pointer_or_size(const NamedType& one) {
    const std::string name = possible_name(one.name), type = type_of(one);
    const auto small = small_values_.find(name);
    if (std::ranges::count(one.type, '*') > 1)
      add_pointers(one);
    else if (one.is_pointer())
      add_buffer(one, type);
    else if (!contains(sizes_, name))
      return false;
    else if (const std::string head = fmt::format(" {} : ", name); sizes_text_.find(head) == std::string::npos)
      sizes_text_ +=
          line("size", fmt::format("{} : {} = {}", name, type, small == small_values_.end() ? extent_ : small->second));
    return true;
  }

  void add_struct(const NamedType& one) {
    std::vector<std::string> values;
    bool has_numbers = false;
    for (const NamedType& member : members_of(one)) {
      const std::string name = possible_name(member.name);
      const bool is_named = add_pointer_or_size(member);
      has_numbers = has_numbers || !is_named;
      values.push_back(is_named ? name : small_values_.contains(name) ? "0" : "1");
    }
    if (has_numbers) buffers_ += question(fmt::format("Are these usual values of the numbers in {}?", one.name));
    add_struct_scalar(one, struct_text(*struct_by_value(all_, used(plain_type(one.type)))), values);
  }

  /// Without a \p type, `tune` reads that of the kernel's text, which it does not do in a file with a `type`.
  void add_struct_scalar(const NamedType& one, const std::string& type, const std::vector<std::string>& values) {
    buffers_ += line("scalar", fmt::format("{}{}{} = {{ {} }}", possible_name(one.name), type.empty() ? "" : " : ",
                                           type, fmt::join(values, ", ")));
  }

  void add_pointers(const NamedType& one) {
    buffers_ +=
        question(fmt::format(
            "How many pointers are in {}, and which `prepare` kernel stores them there? Until then, they are null.",
            one.name)) +
        line("consumed", possible_name(one.name) + "[1] : uint64") +
        line("fill", possible_name(one.name) + " = constant 0");
  }

  void add_scalar(const NamedType& one, const std::string& type) {
    const std::string name = possible_name(one.name), plain = plain_type(one.type);
    const auto numbers = numbers_of(plain);
    const bool is_vector = numbers && numbers->components > 1;
    if (plain == "cudaTextureObject_t") return add_view(name, "in", "texture");
    if (plain == "cudaSurfaceObject_t") return add_view(name, "out", "surface");
    if (has_word(plain, "CUtensorMap"))
      return add_view(name, "in", "tensormap", sizes_.size() < 2 ? " box 64" : " box 64, 64");
    if (const auto record = is_vector ? vector_record(*numbers) : record_called(all_, used(plain));
        record && !contains(type_names_, plain)) {
      std::vector<std::string> values;
      for (const RecordField& field : record->fields)
        values.resize(values.size() + static_cast<std::size_t>(field.count), "1");
      buffers_ += question(fmt::format("Are these usual values of the {} numbers in {}?", values.size(), one.name));
      return add_struct_scalar(one, is_vector ? plain : struct_text(*record), values);
    }
    buffers_ += question(type.empty() ? fmt::format("{} has the type {}: which numbers are in it?", one.name,
                                                    in_quotes(one.type))
                                      : fmt::format("Is this a usual value of {}?", one.name)) +
                line("scalar", plain == "bool" ? name + " : bool = true"
                                               : fmt::format("{} : {} = {}", name, type.empty() ? "float" : type,
                                                             small_values_.contains(name) ? 0 : 1));
  }

  /// An argument that shows a buffer, by \p directive.
  void add_view(const std::string& name, const char* role, const char* directive, const char* how = "") {
    const std::string extent = sizes_.empty() ? "1" : sizes_.size() == 1 ? sizes_[0] : sizes_[0] + ", " + sizes_[1];
    const std::string count = sizes_.size() < 2 ? extent : sizes_[0] + " * " + sizes_[1];
    buffers_ += question(fmt::format("Which buffer and which extents does {} show, and how?", name)) +
                line(role, fmt::format("{}_data[{}] : float", name, count)) +
                line(directive, fmt::format("{0} = {0}_data[{1}]{2}", name, extent, how));
  }

  /// The variables in constant memory that the body names and the text does not initialise, with the number of elements
  /// if that is written as one.
  void read_constants() {
    constexpr std::string_view word = "__constant__";
    std::vector<std::string> known = arguments_;
    for (std::size_t at = 0; (at = find_word(code_, word, at)) != std::string_view::npos; at += word.size()) {
      const std::size_t begin = at + word.size();
      for (const std::string_view part : at_commas(code_.substr(begin, end_of_statement(begin) - begin), true)) {
        const std::size_t value = std::min(part.find_first_of("={"), part.size());
        const std::string_view head = trimmed(part.substr(0, std::min(part.find('['), value)));
        const std::string name(word_before(head, head.size()));
        if (name.empty() || value < part.size() || !has_word(body_, name) || contains(known, name)) continue;
        known.push_back(name);
        add_constant(fmt::format("{}{}", scoped_.namespaces_at(at), name), name,
                     elements(part.substr(std::min(part.find('['), part.size()))));
      }
    }
  }

  /// The `;` after \p at that is in no brackets.
  std::size_t end_of_statement(std::size_t at) const {
    while (at < code_.size() && code_[at] != ';') {
      const bool opens = code_[at] == '(' || code_[at] == '[' || code_[at] == '{';
      const std::size_t end = opens ? after_brackets(code_, at) : at + 1;
      if (end == npos) break;
      at = end;
    }
    return std::min(at, code_.size());
  }

  void add_constant(const std::string& path, const std::string& name, const std::string& count) {
    const auto number = count.empty() ? 1 : integer_in(all_, count);
    if (!number) buffers_ += question(fmt::format("How many elements are {} of {}?", in_quotes(count), name));
    buffers_ +=
        question(fmt::format(
            "Does {} need the numbers that the host copies into it? Without a `fill`, they are random.", name)) +
        line("constant", fmt::format("{}[{}]", path, number.value_or(1)));
  }

  bool is_size(const NamedType& argument) const {
    const auto numbers = this->numbers(plain_type(argument.type));
    if (!numbers || numbers->components != 1) return false;
    using enum ElementType;
    return numbers->type == int32 || numbers->type == uint32 || numbers->type == int64 || numbers->type == uint64;
  }

  void add_buffer(const NamedType& one, const std::string& type) {
    const PointerPlace place = find_named(kernel_.arguments, one.name) ? PointerPlace::argument : PointerPlace::member;
    const Access access = one.is_to_const() ? Access::reads : access_of(code_, in_braces(body_, 0), one.name, place);
    const bool is_in = access == Access::reads, is_out = access == Access::writes;
    has_out_ = has_out_ || is_out;
    // The type of a struct that the text defines may be left out.
    const bool is_struct = type.empty() && type_names_.empty() && record_called(all_, used(plain_type(one.type)));
    if (type.empty() && !is_struct)
      buffers_ += question(fmt::format("{} has the type {}: which numbers are in it?", one.name, in_quotes(one.type)));
    if (!std::exchange(has_buffers_, true))
      buffers_ +=
          question(sizes_.size() > 3 ? "How many elements has each of these? The sizes in each product are guessed."
                                     : "How many elements has each of these?");
    buffers_ += line(is_in    ? "in"
                     : is_out ? "out"
                              : "inout",
                     fmt::format("{}[{}]{}", possible_name(one.name), count_,
                                 is_struct ? "" : " : " + (type.empty() ? "float" : type)));
    if (is_in && type == "uint8") buffers_ += line("fill", possible_name(one.name) + " = uniform 0 256");
    if (is_struct || type.ends_with(']')) return;
    bytes_ += fmt::format("{}{}{} * sizeof({})", bytes_.empty() ? "" : " + ", is_in || is_out ? "" : "2 * ", count_,
                          type.empty() ? "float" : type);
  }

  Signature kernel_;
  const ScopedCode& scoped_;
  const ScopedCode& all_;  ///< with included files
  std::string_view code_;
  std::string_view body_;  ///< with the head
  FirstShape shape_;
  std::vector<std::string> type_names_, parameters_, sizes_, arguments_, questions_, host_variables_;
  std::map<std::string, int, std::less<>> small_values_;  ///< of arguments that are sizes, or offsets (0)
  int extent_ = 1;                                        ///< of the other sizes
  std::string count_;                                     ///< of elements in each buffer
  bool has_buffers_ = false, has_out_ = false;
  std::string types_, sizes_text_, lines_, buffers_, bytes_, instantiate_, other_presets_;
};

}  // namespace

std::vector<std::string> kernels_of(const std::string& text) {
  std::vector<std::string> names;
  for (const Signature& one : find_signatures(code_of(text)))
    if (!contains(names, one.name)) names.push_back(one.name);
  return names;
}

std::vector<std::string> included_files_with_kernels(const std::string& text, const fs::path& file) {
  std::vector<std::string> paths;
  for (const IncludedFile& one : source_files(text, file).included)
    if (!kernels_of(one.text).empty()) paths.push_back(one.path);
  return paths;
}

FirstFile first_file(const std::string& text, const std::string& kernel, const fs::path& file, const fs::path& folder) {
  const ScopedCode code(code_of(text));
  const auto signature = find_signature(code.text(), kernel);
  if (!signature) throw Error(fmt::format("{}: there is no kernel {}", file.string(), in_quotes(kernel)));
  const auto relative = [&](const fs::path& path) {
    std::string name = path.lexically_normal().lexically_proximate(folder.lexically_normal()).generic_string();
    if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\' || c == 127; }))
      throw Error(fmt::format("{}: {} is not possible in a kernel file", file.string(), in_quotes(name)));
    return name;
  };
  const SourceFiles files = source_files(text, file);
  std::vector<std::string> include_paths;
  for (const fs::path& path : files.include_folders) include_paths.push_back(relative(path));
  Writer writer(code, files.code, *signature);
  if (!writer.takes_pointers())
    throw Error(fmt::format("{}: {} takes no pointer, so it has no result that could be compared", file.string(),
                            in_quotes(kernel)));
  std::string whole = writer.text(relative(file), include_paths);
  return {std::move(whole), writer.questions()};
}

}  // namespace tuner::convert
