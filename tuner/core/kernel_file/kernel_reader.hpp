#pragma once
/// Reads the directives of a kernel file one by one into a KernelDraft. Finds the errors that a single line shows.
/// Private to this room.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/expression/token.hpp>
#include <tuner/core/kernel_file/kernel_draft.hpp>

namespace tuner {

struct KernelReader {
  KernelDraft draft;
  KernelSpec& spec = draft.spec;
  Token directive;  ///< the one that is being read
  SourceLocation directive_place;
  std::vector<SourceFile> known_sources;  ///< the `sources` of parse_kernel_file()

  KernelReader() = default;
  KernelReader(const KernelReader&) = delete;
  KernelReader& operator=(const KernelReader&) = delete;

  /// Throws SpecError if it was called with \p key before.
  void once(const std::string& key);
  /// Reads the name of a new \p what.
  std::string declare(TokenCursor& cursor, std::string_view what, bool in_expressions);
  /// Reads an expression up to the end of the line, a comma or \p closing: a character, or one of several words.
  Expression expression(TokenCursor& cursor, std::string_view closing = "]", Numbers numbers = Numbers::integers);
  /// Reads the expression in the braces that open at \p at of \p line, and moves \p at to the closing one.
  Expression in_braces(const LogicalLine& line, std::size_t& at);
  /// Reads `= VALUE VALUE …` to the end of the line, the values of each of \p names. No value may occur twice.
  const std::vector<Value>& values(TokenCursor& cursor, std::vector<std::string> names);
  /// Reads the name of a type. Returns the canonical name of an element type.
  std::string type_name(TokenCursor& cursor);
  /// Reads `NAME=VALUE …` to the end of the line. Calls \p read with each name to read its value. Returns the places of
  /// the names, none of which may occur twice.
  /// \p members: a name may be that of a number in a struct, `p.at[2]`.
  Places assignments(TokenCursor& cursor, const std::function<void(const std::string&)>& read, bool members = false);
  /// Reads the C++ name that \p of instantiates: the rest of the line, with expressions in braces and `let`s.
  void read_name(TokenCursor& cursor, std::string_view what, LaunchDraft& of);

  LaunchDraft& start_launch(const std::string& name, LaunchDraft::Role role);
  /// The launch that the current directive belongs to. Throws SpecError if that launch has such a directive already.
  LaunchDraft& once_in_launch();

 private:
  std::size_t values_ = 0;
  std::size_t operations_ = 0;
};

struct Directive {
  std::string_view name;
  void (*read)(KernelReader&, TokenCursor&);
};

std::span<const Directive> name_directives();     ///< read_names.cpp
std::span<const Directive> data_directives();     ///< read_data.cpp
std::span<const Directive> program_directives();  ///< read_program.cpp: the program and its launches

}  // namespace tuner
