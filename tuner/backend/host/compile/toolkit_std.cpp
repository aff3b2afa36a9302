#include <tuner/backend/host/compile/toolkit_std.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <tuner/backend/host/compile/translation_unit.hpp>

namespace tuner::host {
namespace {

namespace fs = std::filesystem;

bool is_used(const ShimFile& header, const CompileRequest& request, const Includes& includes) {
  const auto is_in = [&](const std::string& text) { return text.find(header.name) != std::string::npos; };
  return header.text.find(kOfToolkit) != std::string_view::npos &&
         (is_in(request.source) ||
          std::ranges::any_of(includes.files, [&](const IncludedFile& file) { return is_in(file.text); }));
}

}  // namespace

std::vector<std::string> toolkit_std_folders(const CompileRequest& request, const Includes& includes) {
  const auto uses = [&](const ShimFile& header) { return is_used(header, request, includes); };
  if (!std::ranges::any_of(shim_files(), uses)) return {};
  std::vector<fs::path> candidates;
  for (const std::string& path : request.include_paths) candidates.emplace_back(path);
  for (const char* const variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* const folder = std::getenv(variable)) candidates.push_back(fs::path(folder) / "include");
  candidates.emplace_back("/usr/local/cuda/include");
  for (const fs::path& candidate : candidates) {
    for (const fs::path& folder : {candidate / "cccl", candidate}) {  // since CUDA 13, and before
      std::error_code error;
      // The resolved name has the version, which then is part of an object's key.
      const fs::path found = fs::canonical(folder, error);
      if (error || !fs::exists(found / "cuda/std/mdspan", error)) continue;
      std::vector<std::string> folders{found.string()};
      if (found.filename() == "cccl") folders.push_back(found.parent_path().string());
      return folders;
    }
  }
  return {};
}

}  // namespace tuner::host
