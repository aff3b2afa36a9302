#include <tuner/convert/first_file.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#include <tuner/core/characters.hpp>
#include <tuner/convert/source_files.hpp>
#include <tuner/core/declared_types.hpp>
#include <tuner/core/definitions.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/record_type.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;

/// Whether the operator at \p at updates the value before it: `+=`, `++`.
bool is_update(std::string_view code, std::size_t at) {
  const std::string_view two = code.substr(at, 2), three = code.substr(at, 3);
  if (two == "++" || two == "--" || three == "<<=" || three == ">>=") return true;
  return two.size() == 2 && two[1] == '=' && std::string_view("+-*/%&|^").find(two[0]) != std::string_view::npos;
}

/// Whether the operator at \p at is `=`.
bool is_assignment(std::string_view code, std::size_t at) {
  return code.substr(at, 1) == "=" && code.substr(at, 2) != "==";
}

/// The longest index, in characters. Without a limit, many brackets that nothing closes would cost quadratic time.
constexpr std::size_t kLongestIndex = 4'096;

/// Whether the statement updates elements of the pointer from \p begin to \p end, or with \p assigned assigns to them.
bool is_changed(std::string_view code, std::size_t begin, std::size_t end, bool assigned) {
  constexpr std::size_t kNear = 200;  // characters of the statement before it
  const std::string_view before = trimmed(code.substr(begin - std::min(begin, kNear), std::min(begin, kNear)));
  bool through = before.ends_with('*');
  std::size_t at = skip_space(code, end);
  if (code.substr(at, 1) == "[") {
    at = std::min(after_brackets(code, at, kLongestIndex), code.size());
    through = true;
    if (code.substr(at, 1) == ".") at += 1 + word_at(code, at + 1).size();  // y[i].x
    at = skip_space(code, at);
  }
  if (through && (before.ends_with("++") || before.ends_with("--"))) return true;
  if (through && (is_update(code, at) || (assigned && is_assignment(code, at)))) return true;
  // atomicAdd(y, 1), atomicMax(&y[i], 1), atomicAdd((unsigned*)y, 1)
  const std::size_t open = before.rfind("atomic");
  return open != std::string_view::npos && before.substr(open).find_first_of(",;{}") == std::string_view::npos &&
         before.substr(open).find('(') != std::string_view::npos;
}

enum class Change { update, any };
/// Whether \p body visibly changes elements of \p pointer: computes new values from old ones (`y[i] += 1`, `*y -= x`,
/// `atomicAdd(&y[i], 1)`), or with \p wanted also assigns others.
bool changes(std::string_view body, std::string_view pointer, Change wanted) {
  const std::string_view inside = in_braces(body, 0);
  for (std::size_t at = 0; (at = find_word(inside, pointer, at)) != std::string_view::npos; ++at)
    if (is_changed(inside, at, at + pointer.size(), wanted == Change::any)) return true;
  return false;
}

/// Writes a kernel file from the head and body of its kernel, with a comment for each question that they leave open.
class Writer {
 public:
  Writer(const ScopedCode& code, const ScopedCode& all, Signature kernel)
      : kernel_(std::move(kernel)),
        scoped_(code),
        all_(all),
        code_(code.text()),
        body_(code_.substr(kernel_.begin)),
        instantiate_(code.namespaces_at(kernel_.begin) + kernel_.name) {
    const std::size_t next = body_.find("__global__", kernel_.end - kernel_.begin);
    body_ = body_.substr(0, next);
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (occurs(fmt::format("threadIdx.{}", "xyz"[axis])) || occurs(fmt::format("blockIdx.{}", "xyz"[axis])))
        dimensions_ = axis + 1;
    read_block();
    read_template();
    read_arguments();
    read_constants();
  }

  std::string text(const std::string& source, const std::vector<std::string>& include_paths) {
    std::string block, grid, preset;
    const std::vector<std::string> shape = block_names();
    for (std::size_t axis = 0; axis < dimensions_; ++axis) {
      if (!is_parameter(shape[axis]))
        add("parameter", fmt::format("{} = {}", shape[axis], axis == 0 ? block_values_ : "1 2 4 8 16"));
      preset += fmt::format(" {}={}", shape[axis],
                            dimensions_ == 1 ? usual_block_ : std::to_string(axis == 0 ? 32 : 8 >> (axis - 1)));
      block += (axis == 0 ? "" : ", ") + shape[axis];
      grid += (axis == 0 ? "" : ", ") +
              (axis < sizes_.size() ? fmt::format("max(1, ceil_div({}, {}))", sizes_[axis], shape[axis]) : "1");
    }
    ask(sizes_.empty() ? "How many blocks does a launch have? No argument tells."
                       : "Is this the grid of your launches?");
    lines_ += buffers_;
    add("block", block);
    add("grid", grid);
    if (instantiate_ != kernel_.name) add("instantiate", instantiate_);
    add("arguments", fmt::format("{}", fmt::join(arguments_, ", ")));
    if (!bytes_.empty()) add("bytes", bytes_);
    add("default", (preset + other_presets_).substr(1));
    ask("What is right? A plain kernel here finds mistakes of all configurations: docs/kernel-files.md, `reference`.");
    add("reference", "default");
    lines_ += '\n';
    for (const std::string& path : include_paths) add("include_path", fmt::format("\"{}\"", path));
    add("source", fmt::format("\"{}\"", source));
    return fmt::format("// How to tune {}. Lines with ? are questions; `tune check` tells what is wrong.\n\n{}",
                       kernel_.name, header() + lines_);
  }

  std::vector<std::string> questions() const { return questions_; }

 private:
  static std::string line(std::string_view directive, const std::string& rest) {
    return fmt::format("#pragma tuner {:<11} {}\n", directive, rest);
  }
  void add(std::string_view directive, const std::string& rest) { lines_ += line(directive, rest); }
  std::string question(const std::string& text) {
    questions_.push_back(text);
    return "// ? " + text + '\n';
  }
  void ask(const std::string& text) { lines_ += question(text); }

  bool occurs(const std::string& text) const { return body_.find(text) != std::string_view::npos; }
  bool is_parameter(const std::string& name) const { return contains(parameters_, name); }

  std::string header() const { return line("kernel", kernel_.name) + types_ + sizes_text_; }

  /// Template parameters that are called like a block's extent are it.
  std::vector<std::string> block_names() const {
    std::vector<std::string> names{"block_x", "block_y", "block_z"};
    if (dimensions_ == 1) names[0] = "block";
    // A word of the text would become a macro.
    for (std::string& name : names)
      while (has_word(code_, name)) name.insert(0, "tuned_");
    if (dimensions_ > 1) return names;
    if (!block_of_text_.empty()) names[0] = block_of_text_;
    for (const std::string& one : parameters_)
      if (is_called_like_a_block(one)) names[0] = one;
    return names;
  }

  static bool is_called_like_a_block(std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.find("block") != std::string::npos || lower.find("threads") != std::string::npos;
  }

  /// A number of the text that the kernel uses and that is called like a block's extent is it.
  void read_block() {
    constexpr int least = 16, most = 1024;
    if (dimensions_ > 1) return;
    for (const std::string_view word : words_of(body_)) {
      if (!is_called_like_a_block(word) || find_named(kernel_.arguments, word)) continue;
      const std::vector<DefinedValue> all = definitions_of(all_.text(), word);
      const auto value = all.size() == 1 ? number_of<int>(all.front().value) : std::nullopt;
      if (!value || *value < least || *value > most) continue;
      block_of_text_ = word;
      usual_block_ = all.front().value;
      if (!has_word(block_values_, usual_block_)) block_values_ += ' ' + usual_block_;
      return;
    }
  }

  void read_template() {
    std::string names;
    for (const Declared& one : kernel_.template_parameters) {
      // One that may be left out is worth trying if its usual value is a literal.
      const bool is_flag = plain_type(one.type) == "bool", is_type = one.type == "typename" || one.type == "class";
      const bool is_literal =
          number_of<int>(one.otherwise).has_value() || one.otherwise == "true" || one.otherwise == "false";
      if (one.is_pack() || (one.may_be_left_out && (is_type || !is_literal))) break;
      const std::string name = possible_name(one.name);
      names += (names.empty() ? "" : ", ") + name;
      if (is_type) {
        types_ += question(fmt::format("Which types is {} for?", name)) + line("type", name + " = float");
        type_names_.push_back(name);
        continue;
      }
      parameters_.push_back(name);
      const bool is_block = block_names()[0] == name;
      const std::string usual = one.may_be_left_out ? one.otherwise : is_flag ? "false" : "1";
      if (is_block) {
        if (one.may_be_left_out) usual_block_ = usual;
        if (!has_word(block_values_, usual_block_)) block_values_ += ' ' + usual_block_;
      } else {
        ask(fmt::format("Which values may {} have?", name));
        other_presets_ += fmt::format(" {}={}", name, usual);
      }
      const std::string others = one.may_be_left_out ? usual : "1 2 4";
      add("parameter", fmt::format("{} = {}", name, is_block ? block_values_ : is_flag ? "false true" : others));
    }
    if (!kernel_.template_parameters.empty()) instantiate_ += '<' + names + '>';
  }

  /// \p type as the kernel's arguments use it.
  UsedName used(std::string type) const {
    const std::vector<Signature> heads = find_signatures(all_, kernel_.name);
    const std::size_t at = heads.empty() ? 0 : heads.back().begin;
    return without_aliases(all_, {std::move(type), all_.namespaces_at(at), at});
  }
  std::optional<VectorType> numbers(const std::string& type) const {
    const auto numbers = numbers_of(type);
    return numbers ? numbers : numbers_of(all_, used(type));
  }

  /// The name in kernel files; empty for a type that they do not have.
  std::string type_of(const Declared& argument) const {
    const std::string type = plain_type(argument.type);
    if (contains(type_names_, type)) return type;
    const auto numbers = this->numbers(type);
    if (!numbers) return "";
    return numbers->components == 1 ? std::string(info(numbers->type).name)
           : numbers_of(type)       ? type
                                    : fmt::format("{}[{}]", info(numbers->type).name, numbers->components);
  }

  void read_arguments() {
    for (const Declared& one : kernel_.arguments)
      if (!one.is_pointer() && is_size(one)) sizes_.push_back(possible_name(one.name));
    const char* const extent = sizes_.size() <= 1 ? "16777216" : sizes_.size() == 2 ? "4096" : "256";
    if (!sizes_.empty()) sizes_text_ += question("Are these the extents of a typical problem?");
    for (const Declared& one : kernel_.arguments) {
      arguments_.push_back(possible_name(one.name));
      const std::string type = type_of(one);
      if (one.is_pointer())
        add_buffer(one, type);
      else if (is_size(one))
        sizes_text_ += line("size", fmt::format("{} : {} = {}", possible_name(one.name), type, extent));
      else
        add_scalar(one, type);
    }
  }

  void add_scalar(const Declared& one, const std::string& type) {
    const std::string name = possible_name(one.name), plain = plain_type(one.type);
    const auto numbers = numbers_of(plain);
    const bool is_vector = numbers && numbers->components > 1;
    if (plain == "cudaTextureObject_t" || plain == "cudaSurfaceObject_t") return add_texture(name, plain);
    if (const auto record = is_vector ? vector_record(*numbers) : record_called(all_, used(plain));
        record && !contains(type_names_, plain)) {
      std::vector<std::string> values;
      for (const RecordField& field : record->fields)
        values.resize(values.size() + static_cast<std::size_t>(field.count), "1");
      buffers_ +=
          question(fmt::format("Which values have the {} numbers of {}?", values.size(), one.name)) +
          line("scalar", fmt::format("{}{} = {{ {} }}", name, is_vector ? " : " + plain : "", fmt::join(values, ", ")));
      return;
    }
    buffers_ += question(type.empty() ? fmt::format("{} has the type {}: which numbers are in it?", one.name,
                                                    in_quotes(one.type))
                                      : fmt::format("Which value has {}?", one.name)) +
                line("scalar", fmt::format("{} : {} = 1", name, type.empty() ? "float" : type));
  }

  void add_texture(const std::string& name, const std::string& type) {
    const bool is_texture = type == "cudaTextureObject_t";
    const std::string extent = sizes_.empty() ? "1" : sizes_.size() == 1 ? sizes_[0] : sizes_[0] + ", " + sizes_[1];
    const std::string count = sizes_.size() < 2 ? extent : sizes_[0] + " * " + sizes_[1];
    buffers_ += question(fmt::format("Which buffer and which extents does {} show, and how?", name)) +
                line(is_texture ? "in" : "out", fmt::format("{}_data[{}] : float", name, count)) +
                line(is_texture ? "texture" : "surface", fmt::format("{0} = {0}_data[{1}]", name, extent));
  }

  /// The variables in constant memory that the body names, with the number of elements if that is written as one.
  void read_constants() {
    constexpr std::string_view word = "__constant__";
    std::vector<std::string> known = arguments_;
    for (std::size_t at = 0; (at = find_word(code_, word, at)) != std::string_view::npos; at += word.size()) {
      const std::string_view rest = code_.substr(at, code_.find_first_of(";={", at) - at);
      const std::string_view head = trimmed(rest.substr(0, rest.find('[')));
      const std::string name(word_before(head, head.size()));
      if (name == word || !has_word(body_, name) || contains(known, name)) continue;
      known.push_back(name);
      const std::size_t open = rest.find('['), close = std::min(rest.find(']'), rest.size());
      const std::string_view count = open < close ? trimmed(rest.substr(open + 1, close - open - 1)) : "1";
      const bool is_number = number_of<int>(count).has_value();
      if (!is_number) buffers_ += question(fmt::format("How many elements are {} of {}?", in_quotes(count), name));
      buffers_ += line("constant", fmt::format("{}{}[{}]", scoped_.namespaces_at(at), name, is_number ? count : "1"));
    }
  }

  bool is_size(const Declared& argument) const {
    const auto numbers = this->numbers(plain_type(argument.type));
    if (!numbers || numbers->components != 1) return false;
    using enum ElementType;
    return numbers->type == int32 || numbers->type == uint32 || numbers->type == int64 || numbers->type == uint64;
  }

  /// `out` only where the body has the name once, to write to it: else its old values may matter.
  void add_buffer(const Declared& one, const std::string& type) {
    std::size_t uses = 0;
    for (const std::string_view word : words_of(body_.substr(kernel_.end - kernel_.begin)))
      uses += word == one.name ? 1 : 0;
    const bool is_in = one.is_to_const();
    const bool is_out =
        !is_in && uses == 1 && changes(body_, one.name, Change::any) && !changes(body_, one.name, Change::update);
    const std::string count = sizes_.empty() ? "1" : fmt::format("{}", fmt::join(sizes_, " * "));
    // The type of a struct that the text defines may be left out.
    const bool is_struct = type.empty() && type_names_.empty() && record_called(all_, used(plain_type(one.type)));
    if (type.empty() && !is_struct)
      buffers_ += question(fmt::format("{} has the type {}: which numbers are in it?", one.name, in_quotes(one.type)));
    if (!std::exchange(has_buffers_, true)) buffers_ += question("How many elements has each of these?");
    buffers_ += line(is_in    ? "in"
                     : is_out ? "out"
                              : "inout",
                     fmt::format("{}[{}]{}", possible_name(one.name), count,
                                 is_struct ? "" : " : " + (type.empty() ? "float" : type)));
    if (is_struct || type.ends_with(']')) return;
    bytes_ += fmt::format("{}{}{} * sizeof({})", bytes_.empty() ? "" : " + ", is_in || is_out ? "" : "2 * ", count,
                          type.empty() ? "float" : type);
  }

  Signature kernel_;
  const ScopedCode& scoped_;
  const ScopedCode& all_;  ///< with included files
  std::string_view code_;
  std::string_view body_;  ///< with the head
  std::size_t dimensions_ = 1;
  std::vector<std::string> type_names_, parameters_, sizes_, arguments_, questions_;
  std::string block_values_ = "32 64 128 256 512 1024", usual_block_ = "256", block_of_text_;
  bool has_buffers_ = false;
  std::string types_, sizes_text_, lines_, buffers_, bytes_, instantiate_, other_presets_;
};

}  // namespace

std::vector<std::string> kernels_of(const std::string& text) {
  std::vector<std::string> names;
  for (const Signature& one : find_signatures(code_of(text)))
    if (!contains(names, one.name)) names.push_back(one.name);
  return names;
}

FirstFile first_file(const std::string& text, const std::string& kernel, const fs::path& file, const fs::path& folder) {
  const ScopedCode code(code_of(text));
  const auto signature = find_signature(code.text(), kernel);
  if (!signature) throw Error(fmt::format("{}: there is no kernel {}", file.string(), in_quotes(kernel)));
  if (std::none_of(signature->arguments.begin(), signature->arguments.end(),
                   [](const Declared& one) { return one.is_pointer(); }))
    throw Error(fmt::format("{}: {} takes no pointer, so it has no result that could be compared", file.string(),
                            in_quotes(kernel)));
  const auto relative = [&](const fs::path& path) {
    std::string name = path.lexically_normal().lexically_proximate(folder.lexically_normal()).generic_string();
    if (std::any_of(name.begin(), name.end(),
                    [](unsigned char c) { return c < ' ' || c == '"' || c == '\\' || c == 127; }))
      throw Error(fmt::format("{}: {} is not possible in a kernel file", file.string(), in_quotes(name)));
    return name;
  };
  const SourceFiles files = source_files(text, file);
  std::vector<std::string> include_paths;
  for (const fs::path& path : files.include_folders) include_paths.push_back(relative(path));
  Writer writer(code, files.code, *signature);
  std::string whole = writer.text(relative(file), include_paths);
  return {std::move(whole), writer.questions()};
}

}  // namespace tuner::convert
