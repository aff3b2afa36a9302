#include <tuner/core/cpp/declarations.hpp>

#include <algorithm>
#include <utility>

#include <tuner/core/cpp/declaration_words.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::string_view kPointerQualifiers[] = {"const", "volatile", "__restrict__"};

class DeclarationReader {
 public:
  DeclarationReader(std::string_view code, const std::vector<std::string>& whole) : code_(code), whole_(whole) {}

  std::vector<Declaration> read() && {
    for (; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (const auto line = directive_at(code_, at_)) {
        directive(*line);
        continue;
      }
      if (is_space(c)) continue;
      if (now_.begin == npos) {
        if (c == ';') continue;
        if (const std::size_t member = in_type() ? after_access(code_, at_) : at_; member != at_) {
          at_ = member - 1;
          continue;
        }
        if (takes_macro()) continue;
        now_.begin = at_;
      }
      next(c);
    }
    for (Declaration& one : all_)
      if (one.end == npos) one.end = one.begin;  // it begins in a branch that another replaces
    return std::move(all_);
  }

 private:
  struct Scope {
    std::size_t type = npos;   ///< number of the declaration; npos: a namespace
    std::size_t begin = npos;  ///< of that
  };
  struct State {
    std::size_t begin = npos;  ///< of the current declaration
    int brackets = 0;          ///< open in it
    int braces = 0;            ///< likewise, and not of a scope
    std::size_t open = npos;   ///< its first brace
    std::size_t type = npos;   ///< the type that it defines
    bool is_function = false;
    std::vector<Scope> scopes = {};
  };

  bool in_type() const { return !now_.scopes.empty() && now_.scopes.back().type != npos; }

  void next(char c) {
    const bool in_brackets = now_.brackets > 0 && now_.braces == 0;  // `f(S s = {})`: no body
    if (c == '(' || c == '[' || (c == '{' && in_brackets)) ++now_.brackets;
    if ((c == ')' || c == ']' || (c == '}' && in_brackets)) && now_.brackets > 0) --now_.brackets;
    if (in_brackets) return;
    if (c == '{') {
      open();
    } else if (c == '}') {
      close();
    } else if (c == ';' && now_.brackets == 0 && now_.braces == 0) {
      end_at(at_ + 1);
    }
  }

  void directive(const DirectiveLine& line) {
    const std::string_view word = line.name();
    if (word == "if" || word == "ifdef" || word == "ifndef") branches_.push_back(now_);
    if ((word == "else" || word == "elif") && !branches_.empty()) {
      // A declaration that begins in each branch and ends after `#endif` is a single one.
      const std::size_t unfinished = now_.begin;
      now_ = branches_.back();
      if (now_.begin == npos) now_.begin = unfinished;
    }
    if (word == "endif" && !branches_.empty()) branches_.pop_back();
    at_ = line.end;
  }

  /// Whether a macro that stands for whole declarations begins here. Reads it.
  bool takes_macro() {
    const std::string_view word = word_at(code_, at_);
    if (word.empty() || !contains(whole_, word)) return false;
    const std::size_t open = skip_space(code_, at_ + word.size());
    const std::size_t close = code_.substr(open, 1) == "(" ? after_brackets(code_, open) : npos;
    if (close == npos) return false;
    const std::size_t next = skip_space(code_, close);
    if (code_.substr(next, 1) == "{") return false;  // the head of a function
    now_.begin = at_;
    end_at(code_.substr(next, 1) == ";" ? next + 1 : close);
    at_ = all_.back().end - 1;
    return true;
  }

  /// The current declaration up to here, with nothing between its brackets and without directives.
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

  void open() {
    if (now_.braces > 0 || now_.type != npos) {  // a type has ended: `struct S { … } s = {1};`
      ++now_.braces;
      return;
    }
    const std::string text = head();
    const auto words = words_of(text);
    const auto has = [&](std::string_view word) { return contains(words, word); };
    const std::size_t bracket = text.find('(');
    const bool is_call = bracket != std::string::npos && (has("operator") || assignment_in(text) > bracket);
    if ((has("namespace") || (words.size() == 1 && words.front() == "extern")) && !is_call) {
      now_.scopes.push_back({});
      now_.begin = npos;
      return;
    }
    // `struct X : Y<(1 > 2)> {` has a bracket too, but it does not end in one.
    const bool is_type = defines_type(words) && (!is_call || text.find('>', text.rfind('(')) != std::string::npos);
    if (is_type && words.front() != "enum") {
      const std::size_t number = all_.size();
      Declaration type = declaration(Declaration::Kind::type, text);
      type.name = type_named_in(text);
      type.body = at_;
      all_.push_back(std::move(type));
      now_.scopes.push_back({number, now_.begin});
      now_.begin = npos;
      return;
    }
    now_.is_function = is_call && !is_type && !has("using") && !has("typedef");
    ++now_.braces;
    if (now_.open == npos) now_.open = at_;
  }

  void close() {
    if (now_.braces == 0) {
      if (now_.scopes.empty()) return void(now_.begin = npos);
      const Scope scope = now_.scopes.back();
      now_.scopes.pop_back();
      now_.begin = scope.begin;
      now_.brackets = 0;
      now_.type = scope.type;
      if (scope.type != npos) all_[scope.type].end = at_ + 1;  // until its `;` is found
      return;
    }
    if (--now_.braces > 0 || !now_.is_function) return;
    // `S::S() : a{1}, b{2} {}`, `requires requires { … } {}` and `try { … } catch (…) { … }`: more follows.
    const std::size_t after = skip_space(code_, at_ + 1);
    const std::string_view rest = code_.substr(std::min(after, code_.size()));
    if (rest.starts_with(',') || rest.starts_with('{') || word_at(rest, 0) == "catch") return;
    end_at(at_ + 1);
  }

  Declaration declaration(Declaration::Kind kind, const std::string& head) const {
    Declaration one;
    one.kind = kind;
    one.begin = now_.begin;
    one.head = head;
    if (!now_.scopes.empty()) one.around = now_.scopes.back().type;
    return one;
  }

  void end_at(std::size_t end) {
    const std::size_t begin = std::exchange(now_.begin, npos), type = std::exchange(now_.type, npos);
    if (type != npos) {
      all_[type].end = end;
    } else {
      now_.begin = begin;
      const std::string text = head();
      Declaration one = declaration(Declaration::Kind::other, text);
      one.end = end;
      name(one, text);
      all_.push_back(std::move(one));
    }
    State next;
    next.scopes = std::move(now_.scopes);
    now_ = std::move(next);
  }

  void name(Declaration& one, const std::string& text) const {
    const auto words = words_of(text);
    if (words.empty()) return;
    const auto before = [&](std::size_t end) { return std::string(word_before(text, before_space(text, end).size())); };
    const std::size_t bracket = std::min(text.find('('), text.size()),
                      value = std::min(assignment_in(text), text.size());
    const std::string_view first = words.front();
    const std::string pointer = name_of_pointer(std::string_view(code_).substr(one.begin, one.end - one.begin));
    if (first == "using" || first == "typedef") {
      one.kind = Declaration::Kind::alias;
      one.name = first == "using"   ? std::string(value < text.size() && words.size() > 1 ? words[1] : words.back())
                 : !pointer.empty() ? pointer
                                    : before(std::min(text.find('['), text.size()));
    } else if (!pointer.empty()) {
      one.name = pointer;
    } else if (defines_type(words) && bracket == text.size() && value == text.size()) {
      one.kind = Declaration::Kind::type;
      one.name = type_named_in(text);
    } else if (is_instantiation(code_.substr(one.begin, one.end - one.begin))) {
      one.kind = Declaration::Kind::instantiation;
    } else if (bracket < value || contains(words, "operator")) {
      one.kind = Declaration::Kind::function;
      one.name = contains(words, "operator") ? "operator" : before(bracket);
      if (now_.open != npos) one.body = body_of(one);
    } else {
      std::size_t end = std::min({text.find('['), value, text.size()});
      for (std::size_t colon = text.find(':'); colon < end; colon = text.find(':', colon + 2))
        if (text.substr(colon, 2) != "::") end = colon;  // the bits of a field
      one.name = before(end);
    }
  }

  /// `f` of `int (*f)(int)`, `int (T::*const f[2])(int)` and `int (&f)[3]`; empty if \p whole is no such declaration.
  static std::string name_of_pointer(std::string_view whole) {
    const std::size_t open = whole.find('('), end = open == npos ? npos : after_brackets(whole, open);
    if (end == npos) return {};
    const std::string_view next = whole.substr(skip_space(whole, end), 1);
    const std::size_t sign = whole.find_first_of("*&", open);
    if (sign >= end || (next != "(" && next != "[") || whole.find('=') < open) return {};
    const std::string_view type = trimmed(whole.substr(open + 1, sign - open - 1));
    if (!type.empty() && !type.ends_with("::")) return {};
    std::size_t at = skip_space(whole, sign + 1);
    for (std::string_view word = word_at(whole, at); contains(kPointerQualifiers, word); word = word_at(whole, at))
      at = skip_space(whole, at + word.size());
    return std::string(word_at(whole, at));
  }

  /// Where the body of a function begins: at its initialisers, if it has some.
  std::size_t body_of(const Declaration& one) const {
    const std::size_t arguments = code_.find('(', one.begin);
    std::size_t at = std::min(after_brackets(code_, arguments), now_.open);
    // `operator()(int i)`
    if (const std::size_t next = skip_space(code_, at); code_.substr(next, 1) == "(")
      at = std::min(after_brackets(code_, next), now_.open);
    for (; at < now_.open; ++at)
      if (code_[at] == ':' && code_[at + 1] != ':' && code_[at - 1] != ':') break;
    return at;
  }

  /// Whether \p text is `template void f<float>(float*)`, also of a kernel or a type.
  static bool is_instantiation(std::string_view text) {
    if (word_at(text, 0) == "extern") text = trimmed(text.substr(6));
    const std::string_view word = word_at(text, 0);
    return word == "template" && text.substr(skip_space(text, word.size()), 1) != "<";
  }

  std::string_view code_;
  const std::vector<std::string>& whole_;
  std::size_t at_ = 0;
  State now_;
  std::vector<State> branches_;  // the state before each open `#if`, from which all its branches start
  std::vector<Declaration> all_;
};

}  // namespace

std::vector<Declaration> declarations_of(std::string_view code, const std::vector<std::string>& whole) {
  return DeclarationReader(code, whole).read();
}

std::vector<std::string> whole_declarations(std::string_view code) {
  std::vector<std::string> names;
  for (const DirectiveLine& line : directives_of(code)) {
    const std::string_view rest = line.rest(), name = word_at(rest, 0);
    if (line.name() != "define" || rest.substr(name.size(), 1) != "(") continue;
    const std::size_t begin = after_brackets(rest, name.size());
    const std::string_view text = begin == npos ? std::string_view() : trimmed(rest.substr(begin));
    if (text.ends_with('}') || text.ends_with(';')) names.emplace_back(name);
  }
  return names;
}

}  // namespace tuner
