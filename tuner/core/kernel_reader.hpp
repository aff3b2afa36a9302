#pragma once
/// What the directives of a kernel file share while they are read one by one, and who reads which. What a single line
/// can get wrong is found here; what needs the whole file is left to finish(), which is told where everything was
/// written. Private to this room.

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/kernel_draft.hpp>
#include <tuner/core/token.hpp>

namespace tuner {

struct KernelReader {
  KernelDraft draft;
  KernelSpec& spec = draft.spec;
  SpecPlaces& places = draft.places;
  Token directive;  ///< the one at hand
  SourceLocation directive_place;
  std::map<std::string, std::string> declared;  ///< name -> what it is
  std::vector<SourceFile> known_sources;        ///< what parse_kernel_file() was given

  KernelReader() = default;
  KernelReader(const KernelReader&) = delete;
  KernelReader& operator=(const KernelReader&) = delete;

  /// Throws SpecError for a second \p key.
  void once(const std::string& key);
  /// Takes the name of a new thing.
  std::string declare(TokenCursor& cursor, std::string_view what, bool in_expressions);
  /// Ends at the end of the line, a comma or \p closing.
  Expression expression(TokenCursor& cursor, std::string_view closing = "]", Numbers numbers = Numbers::integers);
  /// `= VALUE VALUE …` to the end of the line, each once, of all \p names.
  std::vector<Value> values(TokenCursor& cursor, const std::vector<std::string>& names);
  /// The name of a type; of an element type its canonical one.
  std::string type_name(TokenCursor& cursor, const std::string& key);
  /// `NAME=VALUE` to the end of the line, each name once: calls \p read with each name, at its value.
  void assignments(TokenCursor& cursor, const std::string& key, const std::function<void(const std::string&)>& read);
  /// C++ to the end of the line, with expressions in braces and `let`s: what \p of instantiates.
  void read_name(TokenCursor& cursor, std::string_view what, LaunchDraft& of);

  LaunchDraft& start_launch(const std::string& name, LaunchDraft::Role role);
  /// The launch that the directive at hand belongs to. Throws SpecError where it has one already.
  LaunchDraft& once_in_launch();

 private:
  std::size_t values_ = 0;
  std::size_t operations_ = 0;
  std::map<std::string, SourceLocation> given_;
};

struct Directive {
  std::string_view name;
  void (*read)(KernelReader&, TokenCursor&);
};

std::span<const Directive> name_directives();     ///< read_names.cpp
std::span<const Directive> data_directives();     ///< read_data.cpp
std::span<const Directive> launch_directives();   ///< read_launches.cpp
std::span<const Directive> program_directives();  ///< read_program.cpp

}  // namespace tuner
