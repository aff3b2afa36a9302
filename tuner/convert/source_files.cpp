#include <tuner/convert/source_files.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/cpp/scanner.hpp>

namespace tuner::convert {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> texts_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> texts;
  for (const fs::path& folder : folders) texts.push_back(folder.string());
  return texts;
}

/// The folder above \p file, or one of the usual folders in it, that has \p name. Compilers look in the folders of the
/// system by themselves.
std::optional<fs::path> folder_with(const std::string& name, const fs::path& file) {
  constexpr int most_folders_up = 5;
  const std::set<fs::path> of_the_system{"/", "/usr", "/usr/local", "/opt"};
  fs::path above = file.parent_path();
  for (int i = 0; i <= most_folders_up && !of_the_system.contains(above); ++i, above = above.parent_path())
    for (const char* const inside : {"", "include", "inc", "src"}) {
      const fs::path folder = *inside == '\0' ? above : above / inside;
      std::error_code error;
      if (fs::is_regular_file(folder / name, error)) return folder;
    }
  return std::nullopt;
}

/// The first folder that is missing for the includes of \p text and of the files in \p includes.
std::optional<fs::path> missing_folder(const std::string& text, const fs::path& file, const Includes& includes,
                                       const std::vector<fs::path>& known) {
  const IncludeFolders folders(file, texts_of(known));
  const auto find = [&](const std::string& code, const fs::path& from) -> std::optional<fs::path> {
    for (const DirectiveLine& line : directives_of(code_of(code, Literals::kept))) {
      const auto name = line.name() == "include" ? included_name(line.rest()) : std::nullopt;
      if (!name) continue;
      const auto is_there = [](const fs::path& path) {
        std::error_code error;
        return fs::is_regular_file(path, error);
      };
      const std::vector<fs::path> places = folders.places(*name, from);
      if (std::ranges::any_of(places, is_there)) continue;
      if (auto folder = folder_with(*name, file)) return folder;
    }
    return std::nullopt;
  };
  if (auto folder = find(text, file)) return folder;
  for (const IncludedFile& one : includes.files)
    if (auto folder = find(one.text, one.path)) return folder;
  return std::nullopt;
}

}  // namespace

SourceFiles source_files(const std::string& text, const fs::path& file) {
  constexpr std::size_t most_folders = 16;
  SourceFiles result;
  for (;;) {
    const std::vector<std::string> folders = texts_of(result.include_folders);
    Includes includes = included_files(text, file, folders);
    const auto more = result.include_folders.size() < most_folders
                          ? missing_folder(text, file, includes, result.include_folders)
                          : std::nullopt;
    if (more) {
      result.include_folders.push_back(*more);
      continue;
    }
    result.code = expanded_code(text, file.string(), &includes, folders, {}).code;
    result.included = std::move(includes.files);
    return result;
  }
}

}  // namespace tuner::convert
