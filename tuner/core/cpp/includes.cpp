#include <tuner/core/cpp/includes.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::string_view kFolder = "/include/";  // of the toolkit, in an absolute path
constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kMostIncluded = std::size_t{64} << 20;

/// The folders and files with headers that options of $CXX name, as in `g++ -I headers -include config.h`.
struct CompilerHeaders {
  std::vector<std::string> folders, files;
};

CompilerHeaders headers_of_compiler() {
  constexpr std::string_view folder_options[] = {"-I", "-isystem", "-iquote", "-idirafter", "--include-directory="};
  constexpr std::string_view file_options[] = {"-include", "-imacros", "--include=", "--imacros="};
  CompilerHeaders result;
  const std::vector<std::string> words = words_of_cxx();
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto take = [&](std::span<const std::string_view> options, std::vector<std::string>& all) {
      const auto option = std::ranges::find_if(options, [&](std::string_view one) { return word->starts_with(one); });
      if (option == options.end()) return false;
      std::string name = word->substr(option->size());
      if (name.empty() && word + 1 != words.end()) name = *++word;
      all.push_back(std::move(name));
      return true;
    };
    if (!take(folder_options, result.folders)) take(file_options, result.files);
  }
  return result;
}

class IncludeWalk {
 public:
  IncludeWalk(const IncludeFolders& folders, Includes& result) : folders_(folders), result_(result) {}

  void whole(std::string_view text, const std::filesystem::path& name) {
    file(text, name);
    for (const std::string& given : headers_of_compiler().files) follow(given, {});
    follow_macros();
  }

 private:
  /// `#include MACRO`, or a test for that file, in `from`.
  struct ByMacro {
    std::string macro;
    std::string why_unknown;
    std::filesystem::path from;
  };

  void file(std::string_view text, const std::filesystem::path& name) {
    for (const DirectiveLine& line : directives_of(code_of(text, Literals::kept))) directive(line, name);
  }

  void directive(const DirectiveLine& line, const std::filesystem::path& from) {
    const std::string& whole = line.text;
    const std::string_view word = line.name();
    if (word == "include" || word == "include_next" || word == "import" || word == "embed") {
      if (const auto name = included_name(line.rest())) {
        follow(*name, from);
      } else if (!is_toolkits_) {  // the toolkit's headers name others of the toolkit
        by_macro_.push_back(
            {std::string(line.rest()), "#" + whole + " in " + from.string() + " names its file by a macro", from});
      }
    }
    if (word == "pragma") pragmas_ += whole + '\n';
    if (const std::string_view macro = defined_name(line); !macro.empty())
      macros_[std::string(macro)].emplace_back(trimmed(line.rest().substr(macro.size())));
    find_tests(line, from);
  }

  /// `__has_include("file")` and the like: whether the file exists decides what is compiled.
  void find_tests(const DirectiveLine& line, const std::filesystem::path& from) {
    const std::string& whole = line.text;
    for (const std::string_view word : words_of(whole)) {
      if (!tests_.contains(word)) continue;
      const std::size_t open = skip_space(whole, static_cast<std::size_t>(word.data() + word.size() - whole.data()));
      const std::size_t end = whole[open] == '(' ? after_brackets(whole, open) : npos;
      if (end == npos) continue;
      const std::string_view operand = trimmed(std::string_view(whole).substr(open + 1, end - open - 2));
      const std::string_view defined = line.name() == "define" ? word_at(line.rest(), 0) : std::string_view();
      if (const auto name = included_name(operand)) {
        follow(*name, from);
      } else if (!defined.empty() && line.rest().substr(defined.size()).starts_with('(')) {
        tests_.emplace(defined);  // `#define HAS(x) __has_include(x)`
      } else if (!is_toolkits_) {
        by_macro_.push_back(
            {std::string(operand), "#" + whole + " in " + from.string() + " names its file by a macro", from});
      }
    }
  }

  /// The files that \p macro names in its definitions so far. nullopt if it may name others.
  std::optional<std::vector<std::string>> files_of(const std::string& macro) const {
    std::vector<std::string> files;
    std::vector<std::string> names{macro};  // the macro, and those that stand for it
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto definitions = macros_.find(names[i]);
      if (definitions == macros_.end() || may_be_an_option(names[i])) return std::nullopt;
      for (const std::string& text : definitions->second) {
        const auto file = included_name(text);
        if (file && text.front() == '"' && text.size() == file->size() + 2)
          files.push_back(*file);
        else if (!contains(names, text))
          names.push_back(text);
      }
    }
    return files;
  }

  /// Whether an option of the compiler may define \p macro.
  bool may_be_an_option(const std::string& macro) const {
    return pragmas_.find(macro) != npos ||
           std::ranges::any_of(words_of_cxx(), [&](const std::string& word) { return word.find(macro) != npos; });
  }

  /// A file that a macro names may define other macros, and include more by macros.
  void follow_macros() {
    for (std::size_t before = seen_.size() + 1; before != seen_.size();) {
      before = seen_.size();
      for (std::size_t i = 0; i < by_macro_.size(); ++i) {
        const ByMacro one = by_macro_[i];  // more may be added
        for (const std::string& name : files_of(one.macro).value_or(std::vector<std::string>())) follow(name, one.from);
      }
    }
    for (const ByMacro& one : by_macro_)
      if (!files_of(one.macro)) give_up(one.why_unknown);
  }

  void follow(const std::string& name, const std::filesystem::path& from) {
    for (const std::filesystem::path& path : folders_.places(name, from)) enter(path);
  }

  void enter(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || !seen_.insert(path.lexically_normal().string()).second)
      return;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || bytes_ + size > kMostIncluded || result_.files.size() == kMostFiles) {
      give_up("more is included than " + std::to_string(kMostFiles) + " files or " +
              std::to_string(kMostIncluded >> 20) + " MiB");
      return;
    }
    std::string text(static_cast<std::size_t>(size), '\0');
    std::ifstream file_stream(path, std::ios::binary);
    if (!file_stream.read(text.data(), static_cast<std::streamsize>(text.size()))) return;
    bytes_ += text.size();
    result_.files.push_back({path.string(), text});
    const bool was_toolkits = std::exchange(is_toolkits_, is_of_toolkit(text));
    file(text, path);
    is_toolkits_ = was_toolkits;
  }

  void give_up(std::string why) {
    if (!result_.unknown) result_.unknown = std::move(why);
  }

  const IncludeFolders& folders_;
  Includes& result_;
  std::set<std::string> seen_;
  std::uintmax_t bytes_ = 0;
  std::string pragmas_;                                     // which may give the compiler options
  bool is_toolkits_ = false;                                // the file that is read
  std::map<std::string, std::vector<std::string>> macros_;  // without arguments; all definitions of each
  std::vector<ByMacro> by_macro_;
  std::set<std::string, std::less<>> tests_{"__has_include", "__has_include_next", "__has_embed"};
};

}  // namespace

std::vector<std::string> words_of_cxx() {
  const char* const value = std::getenv("CXX");
  std::istringstream words(value != nullptr ? value : "");
  return {std::istream_iterator<std::string>(words), {}};
}

std::string line_directive(int line, std::string_view file) {
  std::string text = "#line " + std::to_string(line) + " \"";
  for (const char c : file) {
    if (c == '"' || c == '\\') text += '\\';
    if (c != '\n') text += c;
  }
  return text + "\"\n";
}

std::optional<CodePlace> place_of_directive(std::string_view text) {
  constexpr std::string_view kLine = "#line ";
  const std::size_t open = text.find('"');
  if (!text.starts_with(kLine) || open == npos) return std::nullopt;
  const auto line = number_of<int>(trimmed(text.substr(kLine.size(), open - kLine.size())));
  if (!line) return std::nullopt;
  CodePlace place{{}, *line};
  for (std::size_t i = open + 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\') ++i;
    if (i < text.size()) place.file += text[i];
  }
  return place;
}

CodePlace place_in(std::string_view text, std::size_t at, const std::string& file) {
  CodePlace place{file, 1};
  for (std::size_t begin = 0, end = text.find('\n'); end < at; begin = end + 1, end = text.find('\n', begin)) {
    if (auto next = place_of_directive(text.substr(begin, end - begin)))
      place = *std::move(next);
    else
      ++place.line;
  }
  return place;
}

std::optional<std::string> included_name(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '<')) return std::nullopt;
  const std::size_t end = text.find(text[0] == '"' ? '"' : '>', 1);
  if (end == npos) return std::nullopt;
  return std::string(text.substr(1, end - 1));
}

std::vector<std::string> names_in(const std::vector<std::filesystem::path>& folders,
                                  const std::filesystem::path& path) {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path name =
        path.lexically_normal().lexically_relative(folder.empty() ? "." : folder.lexically_normal());
    if (!name.empty() && path.is_absolute() == folder.is_absolute()) names.push_back(name.generic_string());
  }
  return names;
}

IncludeFolders::IncludeFolders(const std::filesystem::path& file_name, const std::vector<std::string>& named)
    : folders_{file_name.parent_path()} {
  folders_.insert(folders_.end(), named.begin(), named.end());
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const char* value = std::getenv(variable);
    std::istringstream list(value != nullptr ? value : "");
    for (std::string folder; std::getline(list, folder, ':');) folders_.emplace_back(folder);
  }
  for (std::string& folder : headers_of_compiler().folders) folders_.emplace_back(std::move(folder));
}

std::vector<std::filesystem::path> IncludeFolders::places(const std::string& name,
                                                          const std::filesystem::path& from) const {
  std::vector<std::filesystem::path> all = places(name);
  all.insert(all.begin(), from.parent_path() / name);
  return all;
}

std::vector<std::filesystem::path> IncludeFolders::places(const std::string& name) const {
  std::vector<std::filesystem::path> all;
  for (const std::filesystem::path& folder : folders_) all.push_back(folder / name);
  return all;
}

Includes included_files(const std::string& source, const std::filesystem::path& file_name,
                        const std::vector<std::string>& folders) {
  Includes result;
  IncludeWalk(IncludeFolders(file_name, folders), result).whole(source, file_name);
  return result;
}

std::string with_places(std::string text, const std::filesystem::path& path, const IncludeFolders& folders,
                        const std::function<std::string(const std::filesystem::path&)>& place) {
  const std::vector<DirectiveLine> lines = directives_of(code_of(text, Literals::kept));
  const auto replace_next = [&](std::size_t begin, std::size_t word) {
    const std::optional<std::string> name = included_name(std::string_view(text).substr(begin));
    if (!name) return;
    const std::vector<std::filesystem::path> all = folders.places(*name);
    auto next = std::ranges::find(all, path.lexically_normal(), &std::filesystem::path::lexically_normal);
    for (next = next == all.end() ? all.begin() : next + 1; next != all.end(); ++next)
      if (const std::string other = place(*next); !other.empty()) {
        text.replace(begin + 1, name->size(), other);
        return void(text.replace(word, std::string_view("include_next").size(), "include     "));
      }
  };
  const auto replace = [&](std::size_t begin) {
    const std::optional<std::string> name = included_name(std::string_view(text).substr(begin));
    if (!name) return;
    const bool is_quoted = text[begin] == '"';
    for (const auto& candidate : is_quoted ? folders.places(*name, path) : folders.places(*name))
      if (const std::string other = place(candidate); !other.empty())
        return void(text.replace(begin + 1, name->size(), other));
  };
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->name().starts_with("include") && !line->rest().empty()) {
      const std::size_t begin = text.find(line->rest().front(), line->begin + 1);
      if (line->name() == "include" && begin < line->end) replace(begin);
      if (line->name() == "include_next" && begin < line->end)
        replace_next(begin, text.find("include_next", line->begin));
      continue;
    }
    constexpr std::string_view test = "__has_include";
    for (std::size_t end = line->end; end > line->begin;) {
      const std::size_t in_line = std::string_view(text).substr(line->begin, end - line->begin).rfind(test);
      if (in_line == npos) break;
      const std::size_t at = line->begin + in_line;
      replace(std::min(text.find_first_of("<\"\n", at), text.size()));
      end = at;
    }
  }
  return text;
}

AuthorFiles::AuthorFiles(const Includes& includes, const std::filesystem::path& file_name,
                         const std::vector<std::string>& folders)
    : includes_(includes), folders_{file_name.parent_path()} {
  folders_.insert(folders_.end(), folders.begin(), folders.end());
}

std::vector<std::string> AuthorFiles::names_of(const std::filesystem::path& path) const {
  return names_in(folders_, path);
}

bool AuthorFiles::has(std::string_view name) const {
  return std::ranges::any_of(includes_.files, [&](const IncludedFile& file) {
    return file.path.ends_with(name) && contains(names_of(file.path), name) && !is_of_toolkit(file.text);
  });
}

std::string AuthorFiles::toolkit_header(const std::string& name, bool in_brackets,
                                        const std::vector<std::string>& own) const {
  if (in_brackets && contains(own, name)) return name;
  constexpr std::string_view of_cub = "cccl/";
  const std::size_t at = name.rfind(kFolder);
  if (!std::filesystem::path(name).is_absolute() || at == npos) return {};
  const auto is_it = [&](const IncludedFile& file) { return file.path == name; };
  const auto file = std::ranges::find_if(includes_.files, is_it);
  if (file != includes_.files.end() && !is_of_toolkit(file->text)) return {};
  const std::string header = name.substr(at + kFolder.size());
  return header.starts_with(of_cub) ? header.substr(of_cub.size()) : header;
}

std::string AuthorFiles::with_toolkit_headers(std::string text, const std::filesystem::path& path,
                                              const std::function<std::string(const std::string& name)>& place) const {
  const std::vector<std::string> own = names_of(path);
  const auto may_include = [&](const std::string& name) { return text.find('<' + name + '>') != npos; };
  if (text.find(kFolder) == npos && std::ranges::none_of(own, may_include)) return text;
  const std::vector<DirectiveLine> lines = directives_of(code_of(text, Literals::kept));
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto name = line->name() == "include" ? included_name(line->rest()) : std::nullopt;
    if (!name) continue;
    const std::string header = toolkit_header(*name, line->rest().front() == '<', own);
    const std::string other = header.empty() ? std::string() : place(header);
    const std::size_t at = text.find(*name, line->begin);
    if (!other.empty() && at < line->end) text.replace(at - 1, name->size() + 2, other);
  }
  return text;
}

bool is_of_toolkit(std::string_view text) {
  const std::string_view head = text.substr(0, 2048);
  return head.find("Copyright") != npos &&
         (head.find("NVIDIA Corporation") != npos || head.find("NVIDIA CORPORATION") != npos);
}

}  // namespace tuner
