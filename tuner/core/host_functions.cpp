#include <tuner/core/host_functions.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/declaration_words.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

using Words = std::set<std::string, std::less<>>;

/// Adds the macros of \p code whose text has one of \p words, or a word that \p is_word_of accepts.
template <typename IsWord>
void add_macros(std::string_view code, Words& words, IsWord is_word_of) {
  for (const DirectiveLine& line : directives_of(code)) {
    const auto all = words_of(std::string_view(line.text));
    if (line.name() != "define" || all.size() < 3) continue;
    if (std::any_of(all.begin() + 2, all.end(), [&](auto word) { return words.contains(word) || is_word_of(word); }))
      words.emplace(all[1]);
  }
}

/// The words of a kernel's texts, and the parts that were removed from them.
struct Known {
  Words device_words;
  Words host_macros;         ///< their text runs on the host
  Words makers;              ///< macros with arguments that only make host functions
  Words host_functions;      ///< removed functions
  Words functions;           ///< others
  Words host_types;          ///< removed types
  Words classes;             ///< all structs and classes
  Words host_variables;      ///< removed variables of such types
  bool has_library = false;  ///< the compiler has the C++ library, so what names it stays
  Words needed;              ///< kernels; empty: all of them
  Words kernels;             ///< of these, the ones that the texts define
  Words other_kernels;       ///< removed, because they are not needed

  bool is_host_function(std::string_view name) const {
    return host_functions.contains(name) && !functions.contains(name);
  }
};

/// Whether \p text is `template void f<float>(float*)`, also of a kernel. It declares nothing and costs compile time.
bool is_instantiation(std::string_view text) {
  text = trimmed(text);
  if (word_at(text, 0) == "extern") text = trimmed(text.substr(6));
  const std::string_view word = word_at(text, 0);
  return word == "template" && text.substr(skip_space(text, word.size()), 1) != "<" && text.find('(') != npos &&
         text.find('{') == npos;
}

class HostFunctionScanner {
 public:
  HostFunctionScanner(std::string_view code, Known& known, std::string& result)
      : HostFunctionScanner(code, known, result, 0, false) {}

  void scan() {
    for (; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (const auto line = directive_at(code_, at_)) {
        directive(*line);
        continue;
      }
      if (c == ' ' || c == '\n' || is_blank(c)) continue;
      if (now_.depth == 0 && now_.parentheses == 0 && calls_maker()) continue;
      if (now_.begin == npos) now_.begin = at_;
      const bool in_brackets = now_.parentheses > 0 && now_.depth == 0;  // `f(S s = {})`: no body
      if (c == '(' || c == '[' || (c == '{' && in_brackets)) ++now_.parentheses;
      if ((c == ')' || c == ']' || (c == '}' && in_brackets)) && now_.parentheses > 0) --now_.parentheses;
      if (in_brackets) continue;
      if (c == '{') {
        open();
      } else if (c == '}') {
        close();
      } else if (c == ';' && now_.parentheses == 0 && now_.depth == 0) {
        end_of_declaration();
        now_.begin = npos;
      }
    }
  }

 private:
  struct State {
    std::size_t begin = npos;  ///< of the current declaration
    int parentheses = 0;
    int depth = 0;         ///< of braces within the declaration
    std::size_t open = 0;  ///< its first brace
    int namespaces = 0;    ///< around it, and `extern "C" {`
    bool is_function = false, is_host = false, is_other_kernel = false;
  };

  void directive(const DirectiveLine& line) {
    const std::string_view word = line.name();
    if (word == "if" || word == "ifdef" || word == "ifndef") conditions_.push_back(now_);
    if ((word == "else" || word == "elif") && !conditions_.empty()) {
      // A declaration that begins in each branch and ends after `#endif` is a single one.
      const std::size_t unfinished = now_.begin;
      now_ = conditions_.back();
      if (now_.begin == npos) now_.begin = unfinished;
    }
    if (word == "endif" && !conditions_.empty()) conditions_.pop_back();
    at_ = line.end;
  }

  /// Whether a call of one of makers_ begins here, with or without a `;`. Takes it out.
  bool calls_maker() {
    if (known_.makers.empty() || (at_ > 0 && is_word(code_[at_ - 1]))) return false;
    const std::string_view word = word_at(code_, at_);
    const std::size_t open = skip_space(code_, at_ + word.size());
    if (word.empty() || !known_.makers.contains(word) || code_.substr(open, 1) != "(") return false;
    const std::size_t close = after_brackets(code_, open);
    if (close == npos) return false;
    const std::size_t next = skip_space(code_, close);
    const std::size_t end = code_.substr(next, 1) == ";" ? next + 1 : close;
    blank(at_, end);
    at_ = end - 1;
    return true;
  }

  /// The text of the declaration outside of parentheses, braces and directives.
  std::string head() const {
    std::string text;
    int inside = 0;
    for (std::size_t i = now_.begin; i < at_; ++i) {
      const char c = code_[i];
      if (const auto line = directive_at(code_, i)) {
        i = line->end;
        continue;
      }
      if (c == ')' || c == '}') --inside;
      if (inside == 0 && c != ')' && c != '}') text += c;
      if (c == '(' || c == '{') ++inside;
    }
    return bare_head(text);
  }
  bool is_of_the_device() const {
    return any_word(code_.substr(now_.begin, at_ - now_.begin),
                    [&](std::string_view word) { return known_.device_words.contains(word); });
  }
  /// The code of the declaration that was not removed from it.
  std::string rest_of_declaration() const {
    std::string rest(code_.substr(now_.begin, at_ - now_.begin));
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (result_[now_.begin + i] == ' ' && rest[i] != '\n') rest[i] = ' ';
    return rest;
  }

  void open() {
    if (now_.depth++ > 0) return;
    const std::string text = head();
    const auto words = words_of(text);
    const auto has = [&](std::string_view word) { return contains(words, word); };
    const bool is_operator = has("operator");
    const std::size_t bracket = text.find('(');
    const bool is_call = bracket != std::string::npos && (is_operator || assignment_in(text) > bracket);
    if ((has("namespace") || (words.size() == 1 && words.front() == "extern")) && !is_call) {
      --now_.depth;
      ++now_.namespaces;
      now_.begin = npos;
      return;
    }
    now_.open = at_;
    // `struct X : Y<(1 > 2)> {` has a bracket too, but it does not end in one.
    const bool is_type = defines_type(words) && (!is_call || text.find('>', text.rfind('(')) != std::string::npos);
    now_.is_function = is_call && !is_type && !has("using") && !has("typedef");
    now_.is_host = now_.is_function && !is_of_the_device();
    if (now_.is_function && !is_operator && !in_class_) {
      const std::string_view name = word_before(text, before_space(text, bracket).size());
      now_.is_other_kernel = is_other_kernel(words, name);
      (now_.is_host ? known_.host_functions : known_.functions).emplace(name);
    }
  }

  /// Whether \p text names something of the C++ library that the compiler does not have.
  bool names_the_library(std::string_view text) const { return !known_.has_library && names_the_host(text); }

  /// Whether a function is a kernel that is not needed. Keeps its name.
  bool is_other_kernel(const std::vector<std::string_view>& words, std::string_view name) {
    // Two heads for one body: a branch of `#ifdef` each.
    if (known_.needed.empty() || std::ranges::count(words, "__global__") != 1) return false;
    const bool is_needed = known_.needed.contains(name);
    (is_needed ? known_.kernels : known_.other_kernels).emplace(name);
    return !is_needed;
  }

  /// Where the body of the member function begins that opens a brace at now_.open: at its initialisers, if it has some.
  std::size_t body_of_member() const {
    const std::size_t arguments = code_.find('(', now_.begin);
    std::size_t at = std::min(after_brackets(code_, arguments), now_.open);
    // `operator()(int i)`
    if (const std::size_t next = skip_space(code_, at); code_.substr(next, 1) == "(")
      at = std::min(after_brackets(code_, next), now_.open);
    for (; at < now_.open; ++at)
      if (code_[at] == ':' && code_[at + 1] != ':' && code_[at - 1] != ':') break;
    return at;
  }
  /// Whether only the host can run \p body.
  bool is_code_of_the_host(std::string_view body) const {
    return names_the_library(body) || body.find("<<<") != npos || has_static_variable(body) ||
           any_word(body, [&](std::string_view word) {
             return is_word_of_the_host(word) || known_.host_macros.contains(word) || known_.is_host_function(word) ||
                    known_.host_variables.contains(word);
           });
  }
  /// Whether the head of a function has a default argument of the host: `f(int at = host())`.
  bool has_default_of_the_host(std::string_view head) const {
    const std::size_t first = head.find('=');
    return first != npos && is_code_of_the_host(head.substr(first));
  }
  /// Leaves of a member function that only the host can run its declaration, unless that is one of a friend or names
  /// the host. Other members may be called by kernels: compilers take them for device code here.
  void remove_member() {
    const std::size_t begin = after_access(code_, now_.begin), body = body_of_member();
    const std::string_view declared = code_.substr(begin, body - begin);
    if (names_the_library(declared) || has_default_of_the_host(declared)) return blank(begin, at_ + 1);
    if (!is_code_of_the_host(code_.substr(body, at_ - body))) return;
    const auto words = words_of(declared);
    if (contains(words, "friend")) return blank(begin, at_ + 1);
    blank(body, at_ + 1);
    result_[body] = ';';
  }

  void close() {
    if (now_.depth == 0) {
      if (in_class_) at_ = code_.size();
      if (now_.namespaces > 0) --now_.namespaces;
      now_.begin = npos;
      return;
    }
    if (--now_.depth > 0 || !now_.is_function) return;
    // `S::S() : a{1}, b{2} {}` and `requires requires { … } {}`: the body is yet to come.
    if (const char next = code_[std::min(skip_space(code_, at_ + 1), code_.size() - 1)]; next == ',' || next == '{')
      return;
    if (now_.is_host && in_class_) {
      remove_member();
    } else if (now_.is_host || now_.is_other_kernel) {
      blank(at_ + 1);
    }
    now_ = State{.namespaces = now_.namespaces};
  }

  /// Whether \p text, the head of a declaration without a body, needs what was removed: `using a::host;`,
  /// `int x = host(3);`, or a removed type.
  bool needs_what_is_gone(const std::vector<std::string_view>& words, std::string_view rest) const {
    if (words.front() == "using" && known_.is_host_function(words.back())) return true;
    if (any_word(rest, [&](std::string_view word) { return known_.host_types.contains(word); })) return true;
    const std::size_t value = rest.find('=');
    return value != npos && !defines_type(words) && any_word(rest.substr(value), [&](std::string_view word) {
             const auto after = static_cast<std::size_t>(word.data() - rest.data()) + word.size();
             return rest.substr(skip_space(rest, after), 1) == "(" && known_.is_host_function(word);
           });
  }

  /// The name of the type that a declaration with the words \p words of its head defines, or takes from a namespace
  /// (`using std::string;`); empty if there is none. \p text: the whole head.
  static std::string_view defined_type(const std::vector<std::string_view>& words, std::string_view text,
                                       std::string_view rest) {
    if (words.size() < 2) return {};
    if (words.front() == "typedef") return word_before(rest, before_space(rest, rest.size()).size());
    if (words.front() == "using") return rest.find('=') != npos ? words[1] : words.back();
    return defines_type(words) ? type_named_in(text) : std::string_view();
  }

  /// The first place after the declaration's first bracket that is neither white space nor in a directive.
  std::size_t first_inside() const {
    std::size_t at = std::min(code_.find('(', now_.begin), code_.size() - 1) + 1;
    for (at = skip_space(code_, at); const auto line = directive_at(code_, at);) at = skip_space(code_, line->end);
    return at;
  }

  /// Whether a variable with the words \p words before its name is a struct or a vector that a call makes: `const Body
  /// all[] = {Body(1)}`. Kernels cannot use it. Constants of other types stay: `const size_t n = size_t(4)`.
  bool is_constructed(const std::vector<std::string_view>& words, std::string_view rest) const {
    const std::size_t value = rest.find_first_of("={");
    if (value == npos || words.size() < 2) return false;
    const auto is_made = [&](std::string_view type) {
      const auto numbers = numbers_of(type);
      const bool is_vector = numbers && numbers->components > 1;
      if (!is_vector && !known_.classes.contains(type)) return false;
      const std::string maker = (is_vector ? "make_" : "") + std::string(type);
      for (std::size_t at = find_word(rest, maker, value); at != npos; at = find_word(rest, maker, at + 1))
        if (rest.substr(skip_space(rest, at + maker.size()), 1) == "(") return true;
      return false;
    };
    return std::any_of(words.begin(), words.end() - 1, is_made);
  }

  /// Whether this is a variable of a class, and not a constant: kernels cannot use the host's, and device code cannot
  /// have one that a constructor makes. \p name: the word before its value.
  bool is_object(const std::vector<std::string_view>& words, std::string_view name) const {
    const auto end = std::ranges::find(words, name);
    return end != words.end() && !contains(words, "const") && !contains(words, "template") &&
           std::any_of(words.begin(), end, [&](std::string_view word) { return known_.classes.contains(word); });
  }

  void end_of_declaration() {
    const std::string_view declaration = code_.substr(now_.begin, at_ - now_.begin);
    if (in_class_) {
      if (has_default_of_the_host(declaration)) blank(after_access(code_, now_.begin), at_ + 1);
      return;
    }
    const std::string text = head();
    const auto words = words_of(text);
    const auto is = [&](std::string_view word) { return !words.empty() && words.front() == word; };
    if (defines_type(words) && now_.open > now_.begin && now_.open < at_) {
      if (words.front() != "enum") known_.classes.emplace(type_named_in(text));
      HostFunctionScanner(code_.substr(0, at_), known_, result_, now_.open + 1, true).scan();
    }
    const std::size_t bracket = text.find('(');
    // `void f(int);`, not `int x(3);` or `MACRO(x);`: a type and a name before the bracket.
    const std::size_t inside = first_inside();
    const bool is_prototype =
        bracket != std::string::npos && words_of(std::string_view(text).substr(0, bracket)).size() > 1 &&
        assignment_in(text) == npos && inside < code_.size() && (code_[inside] == ')' || is_word_start(code_[inside]));
    if (is_instantiation(declaration) ||  // tuner asks for what it needs
        (is_prototype && is_other_kernel(words, word_before(text, before_space(text, bracket).size()))))
      return blank(at_ + 1);
    const std::string rest = rest_of_declaration();
    const std::string_view name =
        word_before(text, before_space(text, std::min(text.find_first_of("=[("), text.size())).size());
    const bool is_neither = is("using") || is("typedef") || is("static_assert") || defines_type(words);
    const bool needs_gone = !words.empty() && needs_what_is_gone(words, rest);
    const bool is_of_the_host =
        names_the_library(defines_type(words) ? std::string_view(rest) : std::string_view(text)) ||
        (!is_neither && (has_streams_or_events(text) || is_constructed(words, rest))) || needs_gone;
    const bool is_variable = !is_neither && !is_prototype && is_object(words, name);
    if (is_variable && !is_of_the_device()) known_.host_variables.emplace(name);
    const bool is_left_out = is_of_the_host || is_variable || (is_prototype && !is_neither);
    // A class with `if constexpr` looks like one of the device, but cannot do without its base.
    if ((is_left_out && !is_of_the_device()) || (needs_gone && defines_type(words))) {
      if (const std::string_view type = defined_type(words, text, rest); !type.empty()) known_.host_types.emplace(type);
      blank(at_ + 1);
    }
  }

  /// Turns the declaration, up to \p end, into blanks, except directives.
  void blank(std::size_t end) { blank(now_.begin, end); }
  void blank(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (const auto line = directive_at(code_, i)) i = line->end;
      if (i < end && result_[i] != '\n') result_[i] = ' ';
    }
  }

  HostFunctionScanner(std::string_view code, Known& known, std::string& result, std::size_t begin, bool in_class)
      : code_(code), known_(known), result_(result), in_class_(in_class), at_(begin) {}

  std::string_view code_;
  Known& known_;
  std::string& result_;
  const bool in_class_;  // between the braces of a type, to the first one that closes
  std::size_t at_;
  State now_;
  std::vector<State> conditions_;  // the state before each open `#if`, from which all its branches start
};

/// The macros with arguments whose text consists of host functions: `#define BIND(name) void name(Tensor a) { … }`, or
/// instantiates some.
Words makers_in(std::string_view code, const Words& device_words) {
  Words makers;
  for (const DirectiveLine& line : directives_of(code)) {
    const std::string_view rest = line.rest(), name = word_at(rest, 0);
    if (line.name() != "define" || rest.substr(name.size(), 1) != "(") continue;
    const std::size_t begin = after_brackets(rest, name.size());
    if (begin == npos) continue;
    if (is_instantiation(rest.substr(begin))) makers.emplace(name);
    if (rest.find('{', begin) == npos) continue;
    std::string text(rest.substr(begin));
    const std::string whole = text;
    Known known;
    known.device_words = device_words;
    HostFunctionScanner(whole, known, text).scan();
    if (trimmed(text).empty()) makers.emplace(name);
  }
  return makers;
}

}  // namespace

std::vector<std::string> without_host_functions(const std::vector<std::string_view>& texts,
                                                const std::vector<std::string>& needed, bool has_library) {
  std::vector<std::string> all;
  for (const std::string_view text : texts) all.push_back(code_of(text));
  Known known;
  known.has_library = has_library;
  for (const std::string& one : needed)
    for (const std::string_view word : words_of(one)) known.needed.emplace(word);
  Words& device_words = known.device_words;
  device_words = {"__global__", "__device__", "constexpr", "consteval", "__constant__", "__shared__", "__managed__"};
  const auto add_all = [&](Words& words, auto is_word_of) {
    for (std::size_t before = npos; before != words.size();) {
      before = words.size();
      for (const std::string& one : all) add_macros(one, words, is_word_of);
    }
  };
  add_all(device_words, [](std::string_view) { return false; });
  add_all(known.host_macros, &is_word_of_the_host);
  for (const std::string& one : all) known.makers.merge(makers_in(one, device_words));
  // A part that is removed from one text may be needed in another, or above.
  const auto gone = [&] { return known.host_types.size() + known.host_functions.size() + known.host_variables.size(); };
  for (std::size_t before = 0, names = 1; before != names; names = gone()) {
    before = gone();
    for (const std::string& one : all) {
      std::string ignored = one;
      HostFunctionScanner(one, known, ignored).scan();
    }
  }
  // If a macro makes the name of a kernel, all kernels stay.
  const auto has_kernel = [&](const std::string& expression) {
    if (expression.starts_with('&')) return true;  // a variable
    const auto words = words_of(expression);
    return std::ranges::any_of(words, [&](auto word) { return known.kernels.contains(word); });
  };
  if (!std::ranges::all_of(needed, has_kernel)) known.needed.clear();
  known.other_kernels.clear();
  // A kernel may be a function of another: `#define __global__ __device__` makes one of it.
  for (std::size_t before = npos; before != known.needed.size();) {
    before = known.needed.size();
    std::vector<std::string> left = all;
    for (std::size_t i = 0; i < all.size(); ++i) HostFunctionScanner(all[i], known, left[i]).scan();
    for (const std::string& name : std::exchange(known.other_kernels, {}))
      if (std::ranges::any_of(left, [&](const std::string& one) { return has_word(one, name); }))
        known.needed.emplace(name);
  }
  std::vector<std::string> results(texts.begin(), texts.end());
  for (std::size_t i = 0; i < all.size(); ++i) HostFunctionScanner(all[i], known, results[i]).scan();
  return results;
}

}  // namespace tuner
