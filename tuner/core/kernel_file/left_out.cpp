#include <tuner/core/kernel_file/left_out.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <tuner/core/cpp/declared_types.hpp>
#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel_file/record_type.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

bool is_of_kernel(const LaunchDraft& one) { return one.role == LaunchDraft::Role::kernel; }

class LeftOut {
 public:
  explicit LeftOut(KernelDraft& draft) : draft_(draft), code_(draft.code), own_(draft.code) {}

  void fill_in() {
    bool by_name = false, all_by_name = true;
    for (LaunchDraft& one : draft_.launches) {
      if (!is_of_kernel(one)) continue;
      const bool named = instantiate(one);
      by_name = by_name || named;
      all_by_name = all_by_name && named;
      arguments(one);
      block(one);
    }
    types();
    macros(by_name && all_by_name);
  }

  /// Parameters and choices whose names the text has, if its kernels are not templates; else those that it defines as
  /// macros: they would have no effect otherwise.
  void macros(bool of_all_names) {
    for (const std::string& name : names_of(draft_.parameters, draft_.spec.choices)) {
      const auto is_argument = [&](const LaunchDraft& one) { return contains(one.launch.arguments, name); };
      if (std::ranges::any_of(draft_.launches, is_argument) || find_named(draft_.spec.program.macros, name) ||
          !(of_all_names ? is_replaceable(name) : is_macro(name)))
        continue;
      const SourceLocation& place = draft_.names.at(name).place;
      draft_.spec.program.macros.push_back({name, named(name, place), place});
    }
  }

 private:
  [[noreturn]] static void fail(const LaunchDraft& one, const char* directive, const std::string& why) {
    throw SpecError(one.launch.location,
                    "launch " + in_quotes(one.launch.name) + " has no " + in_quotes(directive) + why);
  }
  /// Returns false if it was given before.
  static bool mark_given(LaunchDraft& one, const std::string& directive) {
    return one.given.emplace(directive, one.launch.location).second;
  }

  /// Whether \p one left it out.
  bool instantiate(LaunchDraft& one) {
    if (!mark_given(one, "instantiate")) return false;
    const std::vector<Signature> heads = functions({one.launch.name});
    const auto is_elsewhere = [&](const Signature& other) { return qualified(other) != qualified(heads.front()); };
    if (std::ranges::any_of(heads, is_elsewhere))
      fail(one, "instantiate",
           ", and the text has several functions of that name: choose one, as in 'instantiate " +
               qualified(heads.front()) + "'");
    const Signature* const head = heads.empty() ? nullptr : &heads.front();
    if (!head) fail(one, "instantiate", ", and the text has no __global__ function of that name");
    if (!head->template_parameters.empty())
      fail(one, "instantiate",
           ", and " + in_quotes(head->name) + " is a template: give its arguments, as in 'instantiate " + head->name +
               "<" + head->template_parameters.front().name + ">'");
    const KernelSpec& spec = draft_.spec;
    const bool is_data = spec.find_buffer(head->name) || spec.find_scalar(head->name) ||
                         spec.find_texture(head->name) || spec.find_tensor_map(head->name);
    if (const auto other = draft_.names.find(head->name); other != draft_.names.end() && !is_data)
      fail(one, "instantiate",
           ", and the name of its function is also that of a " + other->second.what + " in line " +
               std::to_string(other->second.place.line) + ", whose value would replace it: rename that one");
    one.launch.instantiate = qualified(*head);
    one.instantiate_place = one.launch.location;
    return true;
  }

  static std::string qualified(const Signature& head) { return head.namespaces + head.name; }

  /// The functions of the text that \p path names (a name, after its namespaces). They differ in their namespaces or
  /// their arguments.
  std::vector<Signature> functions(const std::vector<std::string_view>& path) const {
    std::vector<Signature> all = find_signatures(own_, path.back()), meant;
    const auto is_conditional = [&](const Signature& one) { return own_.is_conditional(one.begin); };
    if (all.empty() || std::ranges::any_of(all, is_conditional)) all = find_signatures(declarations(), path.back());
    std::string name;
    for (const std::string_view word : path) name += (name.empty() ? "" : "::") + std::string(word);
    for (const Signature& one : all)
      if (path.size() > 1 && ("::" + qualified(one)).ends_with("::" + name)) meant.push_back(one);
    if (meant.empty()) meant = std::move(all);
    std::vector<Signature> different;
    for (const Signature& one : meant)
      if (std::ranges::none_of(different, [&](const Signature& other) { return is_same(one, other); }))
        different.push_back(one);
    return different;
  }

  bool is_same(const Signature& a, const Signature& b) const {
    const auto takes_the_same = [](const NamedType& x, const NamedType& y) {
      return plain_type(x.type) == plain_type(y.type) && x.is_pointer() == y.is_pointer() && x.name == y.name;
    };
    return qualified(a) == qualified(b) && std::ranges::equal(a.arguments, b.arguments, takes_the_same);
  }

  /// The functions that \p one may launch.
  std::vector<Signature> heads_of(const LaunchDraft& one) const {
    const std::string_view name = one.launch.instantiate;
    const std::vector<std::string_view> words = words_of(name.substr(0, name.find('<')));
    return words.empty() ? std::vector<Signature>() : functions(words);
  }

  void arguments(LaunchDraft& one) {
    if (!mark_given(one, "arguments")) return;
    const std::vector<Signature> heads = heads_of(one);
    if (heads.empty()) fail(one, "arguments", ", and the text does not contain its function");
    const Signature* const head = &heads.front();
    if (heads.size() > 1)
      fail(one, "arguments", ", and the text has several " + in_quotes(head->name) + ", with different arguments");
    const std::vector<std::string> names = argument_names();
    for (const NamedType& argument : head->arguments) {
      if (argument.name.empty())
        fail(one, "arguments", ", and " + in_quotes(head->name) + " takes an argument without a name");
      if (draft_.is_computed(argument.name)) {
        one.launch.computed_arguments.push_back(
            {argument.name, named(argument.name, one.launch.location), number_type(argument, *head, one)});
      } else if (!contains(names, argument.name)) {
        if (has_word(argument.type, "CUtensorMap"))
          fail(one, "arguments",
               ", and " + in_quotes(head->name) + " takes the tensor map " + in_quotes(argument.name) +
                   ": declare it, as in 'tensormap " + argument.name + " = BUFFER[m, k] box 64, 64'");
        fail(one, "arguments",
             ", and " + in_quotes(argument.name) + ", which " + in_quotes(head->name) +
                 " takes, is not a buffer, size, scalar, texture, tensor map or parameter" +
                 suggestion(argument.name, names));
      }
      one.launch.arguments.push_back(argument.name);
    }
  }

  std::vector<std::string> argument_names() const {
    const KernelSpec& spec = draft_.spec;
    std::vector<std::string> names =
        names_of(spec.buffers, spec.sizes, spec.scalars, spec.textures, spec.tensor_maps, draft_.parameters);
    std::erase_if(names, [&](const std::string& name) {
      const BufferSpec* const buffer = spec.find_buffer(name);
      return buffer != nullptr && buffer->role == BufferRole::constant;
    });
    return names;
  }

  Expression named(const std::string& name, const SourceLocation& place) const {
    const LogicalLine line = LogicalLine::from(name, place);
    TokenCursor cursor(line);
    return parse_expression(cursor, draft_.lets);
  }

  void block(LaunchDraft& one) {
    constexpr const char* kNames[] = {"block_size_x", "block_size_y", "block_size_z"};
    const auto is_known = [&](const char* name) { return find_named(draft_.parameters, name) != nullptr; };
    if (one.given.count("block") != 0 || !is_known(kNames[0])) return;
    one.given.emplace("block", one.launch.location);
    for (std::size_t i = 0; i < one.launch.block.size(); ++i)
      if (is_known(kNames[i])) one.launch.block[i] = named(kNames[i], one.launch.location);
  }

  /// The text and the files that it includes.
  const ScopedCode& declarations() const { return expanded(draft_).code; }
  /// \p name as \p head uses it.
  UsedName used(std::string name, const Signature& head) const {
    const std::vector<Signature> all = find_signatures(declarations(), head.name);
    const auto is_it = [&](const Signature& one) { return qualified(one) == qualified(head); };
    const auto at = std::ranges::find_if(all, is_it);
    return {std::move(name), head.namespaces, at == all.end() ? npos : at->begin};
  }

  /// The type of an argument of \p head, which \p one launches. A template parameter of \p head hides an alias of the
  /// same name, and stands for what `instantiate` gives it.
  UsedName type_of(const NamedType& argument, const Signature& head, const LaunchDraft& one) const {
    std::string plain = plain_type(argument.type);
    if (is_built_in(plain)) return {std::move(plain), {}, 0};
    UsedName type = used(std::move(plain), head);
    if (const NamedType* const parameter = find_named(head.template_parameters, type.name)) {
      const auto place = static_cast<std::size_t>(parameter - head.template_parameters.data());
      const std::vector<std::string_view> given = template_arguments(one.launch.instantiate);
      if (place >= given.size() || parameter->is_pack() || draft_.names.contains(given[place])) return type;
      type = {std::string(given[place]), "", declarations().text().size()};
    }
    return without_aliases(declarations(), std::move(type));
  }

  std::optional<VectorType> numbers(const UsedName& type) const {
    return is_built_in(type.name) ? numbers_of(type.name) : numbers_of(declarations(), type);
  }

  std::string number_type(const NamedType& argument, const Signature& head, const LaunchDraft& one) const {
    const auto type = argument.is_pointer() ? std::nullopt : numbers(type_of(argument, head, one));
    return type && type->components == 1 ? std::string(info(type->type).name) : "int";
  }

  /// Fills in types. If the file has a `type`, that is the default instead.
  void types() {
    if (draft_.spec.type_choice() != nullptr) return;
    for (const LaunchDraft& one : draft_.launches)
      if (is_of_kernel(one)) types(one);
    for (const ScalarSpec& scalar : draft_.spec.scalars)  // structs that the file declares
      if (scalar.record) set_pointed_types(scalar, {"", "", declarations().text().size()});
    for (BufferSpec& buffer : draft_.spec.buffers) {
      if (buffer.role != BufferRole::constant || !buffer.type.empty()) continue;
      if (auto type = device_variable_type(declarations(), buffer.scope, buffer.name))
        set_type(buffer, without_aliases(declarations(), std::move(*type)), "its variable");
      else
        draft_.untyped[buffer.name] = in_quotes(buffer.scope + buffer.name) +
                                      " is not a __constant__ or __device__ variable of one type in " + places();
    }
  }

  void types(const LaunchDraft& one) {
    const std::vector<Signature> heads = heads_of(one);
    if (heads.size() != 1) {
      for (const std::string& name : one.launch.arguments)
        draft_.untyped[name] = heads.empty()
                                   ? "the text has no __global__ function " + in_quotes(one.launch.instantiate)
                                   : "the text has several functions " + in_quotes(heads.front().name);
      return;
    }
    const Signature& head = heads.front();
    for (std::size_t i = 0; i < std::min(head.arguments.size(), one.launch.arguments.size()); ++i)
      type(one.launch.arguments[i], head.arguments[i], head, one);
  }

  /// Sets the type of the elements, \p type of the text. Sets nothing if that consists of anything but numbers, and
  /// notes why. \p user: who has the type.
  void set_type(BufferSpec& buffer, const UsedName& type, const std::string& user) {
    if (const auto numbers = this->numbers(type)) {
      buffer.type = info(numbers->type).name;
      buffer.components = numbers->components;
      count_in_numbers(buffer);
    } else if ((buffer.record = record_called(declarations(), type))) {
      buffer.type = info(ElementType::uint8).name;
    } else {
      draft_.untyped[buffer.name] = why_unknown(type, user);
    }
  }

  void set_type(ScalarSpec& scalar, const UsedName& type, const std::string& user) {
    if (const auto numbers = this->numbers(type); numbers && numbers->components == 1) {
      scalar.type = info(numbers->type).name;
    } else {
      scalar.record = numbers ? vector_record(*numbers) : struct_by_value(declarations(), type);
      if (!scalar.record) draft_.untyped[scalar.name] = why_unknown(type, user);
      if (!scalar.record) return;
      scalar.type = info(ElementType::uint8).name;
      set_pointed_types(scalar, type);
    }
  }

  /// Sets the types of buffers that the pointers of \p scalar, a struct of \p type, lead to.
  void set_pointed_types(const ScalarSpec& scalar, const UsedName& type) {
    std::size_t next = 0;
    for (const RecordField& field : scalar.record->fields)
      for (int i = 0; i < field.count && next < scalar.values.size(); ++i) {
        BufferSpec* const buffer = find_named(draft_.spec.buffers, scalar.values[next++].address);
        if (buffer == nullptr || !buffer->type.empty() || field.pointer.empty()) continue;
        const UsedName pointed{plain_type(field.pointer), type.namespaces, type.at};
        if (is_pointer_to_pointers(field.pointer))
          buffer->type = info(ElementType::uint64).name;
        else
          set_type(*buffer, without_aliases(declarations(), pointed), in_quotes(scalar.name + '.' + field.name));
      }
  }

  void type(const std::string& name, const NamedType& argument, const Signature& head, const LaunchDraft& one) {
    const std::string user = in_quotes(head.name);
    const auto set = [&](auto& typed, bool by_pointer) {
      if (typed.name != name || !typed.type.empty()) return;
      const UsedName type = type_of(argument, head, one);
      if (argument.is_pointer() != by_pointer)
        draft_.untyped[name] = user + " takes it as " + in_quotes(argument.type) + ", which is " +
                               (by_pointer ? "no pointer to elements" : "a pointer");
      else if (find_named(head.template_parameters, type.name))
        draft_.untyped[name] = in_quotes(type.name) + " is a template parameter of " + user + ": a line 'type " +
                               type.name + " = float' before it gives it values";
      else if (std::ranges::count(argument.type, '*') > 1)
        typed.type = info(ElementType::uint64).name;  // pointers
      else
        set_type(typed, type, user);
    };
    for (BufferSpec& buffer : draft_.spec.buffers) set(buffer, true);
    for (ScalarSpec& scalar : draft_.spec.scalars) set(scalar, false);
  }

  /// Why \p type, which \p user has, is not known.
  std::string why_unknown(const UsedName& type, const std::string& user) const {
    const std::string subject = in_quotes(type.name) + ", the type that " + user + " has for it, ";
    const std::size_t count = type_definitions(declarations(), type).size();
    if (count == 1)
      return subject +
             "has members that are not numbers, vectors, arrays or structs of these, or a base class that has them or "
             "is "
             "virtual, or is packed";
    if (count > 1) return subject + "is defined several times in " + places();
    const std::string by_template = subject + "is made by a template, which is not read";
    if (type.name.find('<') != std::string::npos) return by_template;
    const std::vector<std::size_t> all = all_definitions(declarations(), last_part(type.name));
    const std::vector<std::size_t> meant = resolve(declarations(), type, all);
    const auto is_of_template = [&](std::size_t at) {  // using NAME = Params<float>;
      const std::string_view from = std::string_view(declarations().text()).substr(at);
      return from.substr(0, from.find(';')).find('<') != std::string_view::npos;
    };
    if (!meant.empty() && std::ranges::all_of(meant, is_of_template)) return by_template;
    if (!meant.empty())
      return subject + "has several meanings, or one under an '#if' that only a compiler decides, in " + places();
    return subject + (all.empty() ? "is not defined in " : "is in another namespace in ") + places();
  }

  /// The files in which types are looked for, and those that were not found.
  std::string places() const {
    constexpr std::size_t most = 4;
    const ProgramSpec& program = draft_.spec.program;
    std::vector<std::string> files{program.file};
    for (const SourceFile& file : program.sources)
      if (!file.of_reference) files.push_back(file.path);
    if (program.includes)
      for (const IncludedFile& file : program.includes->files) files.push_back(file.path);
    const std::size_t more = files.size() > most ? files.size() - most : 0;
    files.resize(files.size() - more);
    std::string text = listed(files, ", ");
    if (more > 0) text += " and " + std::to_string(more) + " more included files";
    const std::vector<std::string>& missing = expanded(draft_).missing;
    if (!missing.empty())
      text += " (" + in_quotes(missing.front()) + " was not found: give its folder, as in 'include_path \"include\"')";
    return text;
  }

  /// Whether a macro \p name can replace what has this name: in the text, or in the included files if the text does not
  /// mention it.
  bool is_replaceable(const std::string& name) const {
    const auto allows = [&](std::string_view code) {
      return !is_declared(code, name) || !definitions_of(code, name).empty();
    };
    const ProgramSpec& program = draft_.spec.program;
    if (!program.includes || occurs_in_code(program_text(draft_.spec), name))
      return may_occur(draft_.spec, ProgramPart::kernel, name) && allows(code_);
    bool occurs = program.includes->unknown.has_value();
    for (const IncludedFile& file : program.includes->files) {
      if (!has_word(file.text, name)) continue;
      const std::string code = code_of(file.text);
      if (!allows(code)) return false;
      occurs = occurs || has_word(code, name);
    }
    return occurs;
  }

  /// Whether \p code has a variable, or a function's or a template's parameter \p name, as far as it shows: a word
  /// that follows a type. A macro would replace it.
  static bool is_declared(std::string_view code, std::string_view name) {
    constexpr std::string_view no_types[] = {"return", "else", "case", "goto",   "throw",
                                             "and",    "or",   "not",  "sizeof", "do"};
    for (std::size_t at = find_word(code, name); at != npos; at = find_word(code, name, at + 1)) {
      const std::string_view type = word_before(code, before_space(code, at).size());
      if (type.empty() || is_digit(type.front()) || contains(no_types, type)) continue;
      if (!directive_around(code, at)) return true;
    }
    return false;
  }

  /// Whether \p code names a member of a class or of a namespace \p name. A macro would replace it.
  static bool is_qualified(std::string_view code, std::string_view name) {
    for (std::size_t at = find_word(code, name); at != npos; at = find_word(code, name, at + 1)) {
      const std::string_view before = before_space(code, at);
      if (before.ends_with("::") || before.ends_with('.') || before.ends_with("->")) return true;
    }
    return false;
  }

  /// Whether the text or a file that it includes defines the macro \p name, or a constant outside of functions and
  /// classes that is all that has this name.
  bool is_macro(std::string_view name) const {
    const auto is_in = [&](const ScopedCode& scoped) {
      const std::string_view code = scoped.text();
      const std::vector<DefinedValue> all = definitions_of(code, name);
      const auto is_directive = [&](const DefinedValue& one) { return scoped.is_macro(one.begin); };
      const auto is_global = [&](const DefinedValue& one) { return scoped.is_in_namespace(one.begin); };
      return std::ranges::any_of(all, is_directive) ||
             (!all.empty() && std::ranges::all_of(all, is_global) && !is_qualified(code, name) &&
              !is_declared(without_definitions(std::string(code), {name}), name));
    };
    const auto& includes = draft_.spec.program.includes;
    const auto has_name = [&](const IncludedFile& file) { return has_word(file.text, name); };
    return (is_in(own_) || (includes && std::ranges::any_of(includes->files, has_name))) && is_in(unchanged(draft_));
  }

  KernelDraft& draft_;
  const std::string& code_;
  const ScopedCode own_;  // code_
};

}  // namespace

void fill_in_from_text(KernelDraft& draft) {
  const auto says_all = [](const LaunchDraft& one) {
    const auto says = [&](const char* directive) { return one.given.count(directive) != 0; };
    return !is_of_kernel(one) || (says("instantiate") && says("arguments") && says("block"));
  };
  const auto has_type = [](const auto& one) { return !one.type.empty(); };
  const KernelSpec& spec = draft.spec;
  const bool types_are_known = spec.type_choice() != nullptr || (std::ranges::all_of(spec.buffers, has_type) &&
                                                                 std::ranges::all_of(spec.scalars, has_type));
  LeftOut left_out(draft);
  if (types_are_known && std::ranges::all_of(draft.launches, says_all))
    left_out.macros(false);
  else
    left_out.fill_in();
}

}  // namespace tuner
