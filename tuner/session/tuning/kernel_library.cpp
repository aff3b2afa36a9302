#include <tuner/session/tuning/kernel_library.hpp>

#include <map>

#include <cache/file/paths.hpp>
#include <cache/records/sha256.hpp>
#include <templates/embedded.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner {

namespace fs = std::filesystem;

KernelLibrary::KernelLibrary() : folders_(cache::path_list("TUNER_TEMPLATE_PATH")) {}

std::vector<KernelLibrary::Entry> KernelLibrary::list() const {
  std::map<std::string, std::string> found;
  for (const fs::path& folder : folders_) {
    std::error_code ignored;  // a folder that cannot be read holds no kernels
    for (const auto& file : fs::directory_iterator(folder, ignored)) {
      if (file.path().extension() == ".cu") found.emplace(file.path().stem().string(), file.path().string());
    }
  }
  for (const EmbeddedTemplate& built_in : embedded_templates()) found.emplace(built_in.name, "built in");
  std::vector<Entry> entries;
  for (const auto& [name, origin] : found) entries.push_back({name, origin});
  return entries;
}

std::string KernelLibrary::missing_folders() const {
  std::string text;
  std::error_code ignored;
  for (const fs::path& folder : folders_)
    if (!fs::is_directory(folder, ignored))
      text += (text.empty() ? "" : " ") + ("TUNER_TEMPLATE_PATH names " + printable(folder.string())) +
              ", which is not a folder.";
  return text;
}

bool KernelLibrary::is_path(std::string_view name_or_path) {
  return name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".cu");
}

std::string KernelLibrary::how_to_give_a_file(std::string_view name) {
  std::error_code none;
  if (fs::is_directory(name, none)) return in_quotes(name) + " is a folder: give the path of a file in it";
  return "Give your own file by its path: ./" + printable(name) + ".cu";
}

KernelSpec KernelLibrary::find(std::string_view name_or_path) const {
  if (is_path(name_or_path)) return read_kernel_file(fs::path(name_or_path));
  for (const fs::path& folder : folders_) {
    const fs::path file = folder / (std::string(name_or_path) + ".cu");
    std::error_code ignored;
    if (fs::exists(file, ignored)) return read_kernel_file(file);
  }
  for (const EmbeddedTemplate& built_in : embedded_templates()) {
    if (built_in.name != name_or_path) continue;
    cache::remember_sha256(built_in.text, built_in.sha256);
    cache::remember_sha256(built_in.text, built_in.counted_sha256, &counted_text);
    return parse_built_in_kernel_file(built_in.text, "templates/" + std::string(built_in.name) + ".cu");
  }
  const std::string missing = missing_folders();
  throw Error(ErrorCode::not_found, unknown_name("kernel", name_or_path, names_of(list())) + ' ' +
                                        how_to_give_a_file(name_or_path) + (missing.empty() ? "" : " " + missing));
}

std::string KernelLibrary::place_of(const KernelSpec& spec) try {
  for (const EmbeddedTemplate& built_in : embedded_templates())
    if (built_in.name == spec.name && built_in.text == spec.program.text) return spec.name;
  std::error_code none;
  if (!fs::is_regular_file(spec.program.file, none) ||
      read_kernel_file(spec.program.file).program.text != spec.program.text)
    return {};
  return fs::absolute(spec.program.file).lexically_normal().string();
} catch (const std::exception&) {
  return {};
}

}  // namespace tuner
