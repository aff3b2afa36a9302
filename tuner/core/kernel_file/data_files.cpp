#include <tuner/core/kernel_file/data_files.hpp>

#include <optional>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {

std::filesystem::path beside(const KernelSpec& spec, const std::string& path) {
  return std::filesystem::path(spec.program.file).parent_path() / path;
}

std::vector<std::string> fill_files(const KernelSpec& spec) {
  std::vector<std::string> paths;
  const auto add = [&](const std::optional<FillSpec>& fill) {
    if (fill && !fill->path.empty()) paths.push_back(fill->path);
  };
  for (const BufferSpec& buffer : spec.buffers) {
    add(buffer.fill);
    if (!buffer.record) continue;
    for (const RecordField& field : buffer.record->fields) add(field.fill);
  }
  return paths;
}

std::vector<std::filesystem::path> data_files(const KernelSpec& spec) {
  std::vector<std::filesystem::path> files;
  const auto add = [&](const std::string& path) {
    std::filesystem::path file = beside(spec, path);
    if (!contains(files, file)) files.push_back(std::move(file));
  };
  for (const std::string& path : fill_files(spec)) add(path);
  for (const BufferSpec& buffer : spec.buffers)
    if (buffer.answer) add(buffer.answer->path);
  return files;
}

}  // namespace tuner
