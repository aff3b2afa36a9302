#pragma once
/// C++ text with what is around each place of it: namespaces, other braces, and `#if`s. Private to this room, convert
/// and session.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

class ScopedCode {
 public:
  ScopedCode() = default;
  /// \p code is the code_of() a text.
  explicit ScopedCode(std::string code);

  const std::string& text() const { return text_; }
  /// The namespaces around \p at, as `a::b::`, without those that are inline or have no name. Empty if there are none.
  const std::string& namespaces_at(std::size_t at) const { return names_[scope_at(at).namespaces]; }
  /// Whether an `#if` is around \p at.
  bool is_conditional(std::size_t at) const { return scope_at(at).is_conditional; }
  /// Whether a directive begins at \p at, the place of a definition.
  bool is_macro(std::size_t at) const { return at < text_.size() && (text_[at] == '#' || text_[at] == '%'); }
  /// Whether \p at is outside of all braces except those of namespaces and of `extern "C"`.
  bool is_in_namespace(std::size_t at) const { return !scope_at(at).is_in_braces; }
  /// Whether \p at is outside of every `#if`, too.
  bool is_always_there(std::size_t at) const { return !is_conditional(at) && is_in_namespace(at); }

 private:
  struct Scope {
    std::size_t begin = 0;
    std::size_t namespaces = 0;  ///< index into names_
    bool is_conditional = false;
    bool is_in_braces = false;  ///< that are not of a namespace or of `extern "C"`
  };
  const Scope& scope_at(std::size_t at) const;

  std::string text_;
  std::vector<std::string> names_{std::string()};
  std::vector<Scope> scopes_{Scope()};
};

/// A name as it is written somewhere. It means what C++ finds from there.
struct UsedName {
  std::string name;        ///< `real`, `a::real`
  std::string namespaces;  ///< around it
  std::size_t at = 0;      ///< only what stands before is found
};

/// The last part of \p path: `real` of `a::real`.
std::string_view last_part(std::string_view path);
/// The definitions that `used.name` means, out of \p definitions: places in \p code that define its last part. It means
/// those of the innermost namespace that has some, else those that a `using` names. Macros are in all namespaces. The
/// place of a macro is the one of its directive.
std::vector<std::size_t> resolve(const ScopedCode& code, const UsedName& used, std::vector<std::size_t> definitions);

}  // namespace tuner
