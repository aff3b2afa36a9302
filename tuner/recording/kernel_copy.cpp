#include <tuner/recording/kernel_copy.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <cache/file/paths.hpp>

#include <tuner/core/cpp/included_file.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end() || (std::next(in_folder) == folder.end() && in_folder->empty());
}

fs::path place_of(const std::string& path) { return fs::absolute(path).lexically_normal(); }

class KernelCopy {
 public:
  explicit KernelCopy(const KernelSpec& spec)
      : spec_(spec), kernel_(place_of(spec.program.file.empty() ? spec.name + ".cu" : spec.program.file)) {
    for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"})
      for (const fs::path& folder : cache::path_list(variable)) elsewhere_.push_back(place_of(folder.string()));
    for (const std::string& folder : spec.program.include_paths)
      (is_written_so(folder) ? elsewhere_ : folders_).push_back(place_of(folder));
    texts_[kernel_] = &spec.program.text;
    for (const SourceFile& file : spec.program.sources)
      if (!is_written_so(file.path)) add(file.path, file.text);
    for (const auto& includes : {spec.program.includes, spec.program.reference_includes})
      if (includes)
        for (const IncludedFile& file : includes->files)
          if (!is_written_so(file.path)) add(file.path, file.text);
    for (const std::string& path : fill_files(spec))
      if (fs::path(path).is_relative()) data_.push_back(place_of(beside(spec, path).string()));
  }

  fs::path write(const fs::path& folder) const {
    const fs::path root = common_folder();
    for (const fs::path& each : folders_) fs::create_directories(folder / each.lexically_relative(root));
    for (const auto& [path, text] : texts_) {
      const fs::path to = place(folder, root, path);
      std::ofstream file(to, std::ios::binary);
      if (!file.write(text->data(), static_cast<std::streamsize>(text->size())).flush())
        throw Error("cannot write " + to.string());
    }
    for (const fs::path& path : data_)
      fs::copy_file(path, place(folder, root, path), fs::copy_options::overwrite_existing);
    return kernel_.lexically_relative(root);
  }

 private:
  /// Whether a text of the kernel contains the absolute path \p path.
  bool is_written_so(const std::string& path) const {
    if (!fs::path(path).is_absolute()) return false;
    const auto names = [&](std::string_view text) {
      return text.find('"' + path + '"') != std::string_view::npos ||
             text.find('<' + path + '>') != std::string_view::npos;
    };
    const auto any = [&](const auto& files) {
      return std::any_of(files.begin(), files.end(), [&](const auto& file) { return names(file.text); });
    };
    const auto& program = spec_.program;
    return names(program.text) || any(program.sources) || (program.includes && any(program.includes->files)) ||
           (program.reference_includes && any(program.reference_includes->files));
  }

  void add(const std::string& path, const std::string& text) {
    const fs::path place = place_of(path);
    const auto holds = [&](const fs::path& folder) { return is_below(place, folder); };
    if (std::none_of(elsewhere_.begin(), elsewhere_.end(), holds)) texts_.emplace(place, &text);
  }

  fs::path common_folder() const {
    fs::path common = kernel_.parent_path();
    const auto include = [&common](const fs::path& path) {
      while (!is_below(path, common) && common.has_relative_path()) common = common.parent_path();
    };
    for (const auto& [path, text] : texts_) include(path);
    for (const fs::path& path : data_) include(path);
    for (const fs::path& path : folders_) include(path);
    return common;
  }

  static fs::path place(const fs::path& folder, const fs::path& root, const fs::path& path) {
    fs::path to = folder / path.lexically_relative(root);
    fs::create_directories(to.parent_path());
    return to;
  }

  const KernelSpec& spec_;
  const fs::path kernel_;
  std::map<fs::path, const std::string*> texts_;
  std::vector<fs::path> data_, folders_;
  std::vector<fs::path> elsewhere_;  // folders whose files stay where they are
};

}  // namespace

fs::path copy_kernel(const KernelSpec& spec, const fs::path& folder) try {
  return KernelCopy(spec).write(folder);
} catch (const std::system_error& error) {
  throw Error(error.what());
}

}  // namespace tuner
