#include <tuner/core/author_files.hpp>

#include <algorithm>

#include <tuner/core/characters.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "/include/";  // of the toolkit, in an absolute path

AuthorFiles::AuthorFiles(const Includes& includes, const fs::path& file_name, const std::vector<std::string>& folders)
    : includes_(includes), folders_{file_name.parent_path()} {
  folders_.insert(folders_.end(), folders.begin(), folders.end());
}

std::vector<std::string> AuthorFiles::names_of(const fs::path& path) const { return names_in(folders_, path); }

bool AuthorFiles::has(std::string_view name) const {
  return std::any_of(includes_.files.begin(), includes_.files.end(), [&](const IncludedFile& file) {
    return file.path.ends_with(name) && contains(names_of(file.path), name) && !is_of_toolkit(file.text);
  });
}

std::string AuthorFiles::toolkit_header(const std::string& name, bool in_brackets,
                                        const std::vector<std::string>& own) const {
  if (in_brackets && contains(own, name)) return name;
  constexpr std::string_view of_cub = "cccl/";
  const std::size_t at = name.rfind(kFolder);
  if (!fs::path(name).is_absolute() || at == npos) return {};
  const auto is_it = [&](const IncludedFile& file) { return file.path == name; };
  const auto file = std::find_if(includes_.files.begin(), includes_.files.end(), is_it);
  if (file != includes_.files.end() && !is_of_toolkit(file->text)) return {};
  const std::string header = name.substr(at + kFolder.size());
  return header.starts_with(of_cub) ? header.substr(of_cub.size()) : header;
}

std::string AuthorFiles::with_toolkit_headers(std::string text, const fs::path& path,
                                              const std::function<std::string(const std::string& name)>& place) const {
  const std::vector<std::string> own = names_of(path);
  const auto may_include = [&](const std::string& name) { return text.find('<' + name + '>') != npos; };
  if (text.find(kFolder) == npos && std::none_of(own.begin(), own.end(), may_include)) return text;
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
