#pragma once
/// Leaves host code out of a kernel's texts: `main()`, functions that allocate, launch and print, and the types and
/// variables that only they use. Compilers that work at run time refuse some of it. They say where, and the
/// declarations there are left out.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/cpp/declarations.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner {

/// An error of a compiler.
struct RefusedCode {
  CodePlace place;
  std::vector<CodePlace> instantiated_at = {};  ///< innermost first
  std::string function = {};  ///< instead of a place: a function without a body, whose address a variable has
};

class HostCode {
 public:
  /// A part of a text that is left out. A `;` takes the place of a member function's body.
  struct Part {
    std::size_t text = 0, begin = 0, end = 0;
    bool is_body = false;

    auto operator<=>(const Part&) const = default;
  };

  /// \p texts: a kernel's source and the headers of its author. A `#line` in a text begins one that another file holds.
  /// \p needed: name expressions of the requested kernels.
  HostCode(std::vector<IncludedFile> texts, const std::vector<std::string>& needed);

  /// How the requested kernels use a declaration, as far as its name tells.
  enum class Use {
    none,
    perhaps,  ///< if so, they do not compile without it
    certain   ///< or without it, they may use another of its name: it is never left out
  };
  /// Leaves out the declarations of use \p most at most that \p errors refuse, or that instantiate what they refuse. A
  /// bad member function loses its body, and if that is not enough, its declaration. A bad data member takes its class
  /// along, because the other members must keep their places. Returns whether anything was left out.
  bool leave_out(const std::vector<RefusedCode>& errors, Use most);
  /// Leaves out all functions that no requested kernel uses. Returns whether there were any.
  bool leave_out_functions();
  /// Takes the `#include` at \p place out of its text. Returns its name; nothing if there is none.
  std::optional<std::string> take_include(const CodePlace& place);
  /// Leaves out \p parts, which leave_out() found in the same texts.
  void leave_out(const std::set<Part>& parts);

  /// The texts, with blanks in place of what is left out. Lines and directives keep their places.
  const std::vector<IncludedFile>& texts() const { return left_; }
  const std::set<Part>& parts() const { return parts_; }
  /// Where each part begins, and its first words: `mine.cu:3: using wall_clock`.
  std::vector<std::string> summary() const;
  /// Adds what was left out to the \p message and the \p log of a later error.
  void add_summary(std::string& message, std::string& log) const;

 private:
  struct Source {
    std::string code;  ///< code_of() the text
    std::vector<Declaration> declarations = {};
  };
  struct Spot {
    std::size_t text = 0, at = 0;
  };
  struct Choice {
    Use use = Use::certain;
    std::optional<Part> part = {};
  };

  void find_fragments();
  void find_uses();
  std::optional<Spot> spot_of(const CodePlace& place) const;
  bool is_of_device(const Source& source, const Declaration& one) const;
  Use use_of(const Source& source, const Declaration& one) const;
  Choice choice_at(const CodePlace& place) const;
  Choice choice_around(std::size_t text) const;
  bool fails_without(const Declaration& one) const;
  bool is_never_named(const Declaration& one) const;
  Choice member_choice(std::size_t text, std::size_t number, std::size_t at) const;
  Choice best_choice(const RefusedCode& error) const;
  void note_refused_arguments(const CodePlace& place);
  std::set<Part> variables_with(std::string_view function) const;
  void blank(const Part& part);

  std::vector<IncludedFile> left_;
  std::vector<Source> sources_;
  std::multimap<std::size_t, Spot> fragments_;  ///< by text: where declarations include it between their brackets
  std::set<std::string, std::less<>> device_words_;
  std::set<std::string, std::less<>> used_;                ///< words that the requested kernels reach
  std::map<std::string, int, std::less<>> declared_;       ///< how often each name is declared
  std::set<std::pair<std::size_t, std::size_t>> refused_;  ///< text and begin of specialisations for refused arguments
  std::set<Part> parts_;
};

}  // namespace tuner
