#include <tuner/backend/host/compile/gpu_headers.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include <tuner/backend/host/compile/toolkit_std.hpp>
#include <tuner/backend/host/compile/translation_unit.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner::host {
namespace {

/// Comments in such headers. CMakeLists.txt makes the first.
constexpr std::string_view kNothingThere = "The host backend has nothing of this header.";
constexpr std::string_view kPartThere = "The host backend has only a part of this header.";

bool says(std::string_view text, std::string_view words) { return text.find(words) != npos; }

bool is_of_cuda(std::string_view name) {
  constexpr std::string_view kFolders[] = {"cuda/", "cub/", "thrust/", "nv/", "cooperative_groups/", "crt/"};
  return name.starts_with("cuda_") ||
         std::ranges::any_of(kFolders, [&](std::string_view folder) { return name.starts_with(folder); });
}

/// The file that \p message misses: `k.cu:1:10: fatal error: NAME: No such file or directory`; clang++: `'NAME' file`.
std::string_view missing_file(std::string_view message) {
  constexpr std::string_view kFatal = "fatal error: ";
  message.remove_prefix(std::min(message.size(), message.find(kFatal) + kFatal.size()));
  const bool is_quoted = message.starts_with('\'');
  if (is_quoted) message.remove_prefix(1);
  return message.substr(0, message.find(is_quoted ? '\'' : ':'));
}

/// The word that names the contents of \p header: `fp8` of `cuda_fp8.h`, `barrier` of `cuda/std/barrier`.
std::string_view subject_of(std::string_view header) {
  header.remove_prefix(header.rfind('/') + 1);  // npos + 1: nothing
  if (header.starts_with("cuda_")) header.remove_prefix(5);
  return header.substr(0, header.find('.'));
}

/// \p text in small letters and without `_`, so that `block_histogram` is in "BlockHistogram is not a member".
std::string squashed(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != '_') result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// Whether \p message names what \p header has on a GPU.
bool is_about(std::string_view message, std::string_view header) {
  return says(squashed(message), squashed(subject_of(header)));
}

}  // namespace

std::string with_gpu_only_cause(const CompileRequest& request, const Includes& includes, std::string message) {
  const auto explained = [](std::string_view text, const std::string& missing) {
    return std::string(text) + ": the host backend has no " + missing + kForGpus;
  };
  const auto is_lacking = [&](std::string_view text) {
    return says(text, kNothingThere) || says(text, kPartThere) ||
           (says(text, kOfToolkit) && toolkit_std_folders(request, includes).empty());
  };
  if (misses_a_file(message)) {
    const std::string name(missing_file(message));
    if (!is_of_cuda(name)) return message;
    const std::size_t advice = message.find(kNameItsFolder);
    return explained(std::string_view(message).substr(0, advice), '<' + name + '>');
  }
  const std::string_view error = std::string_view(message).substr(std::min(message.size(), message.find("error:")));
  const auto named_in = [&](const std::string& text) {
    const std::string code = code_of(text, Literals::kept);
    for (const DirectiveLine& line : directives_of(code)) {
      const auto name = line.name() == "include" ? included_name(line.rest()) : std::nullopt;
      if (!name || !is_about(error, *name)) continue;
      const auto file = std::ranges::find(shim_files(), std::string_view(*name), &ShimFile::name);
      if (file != shim_files().end() && is_lacking(file->text)) return file->name;
    }
    return std::string_view();
  };
  std::string_view header = named_in(request.source);
  for (std::size_t i = 0; header.empty() && i < includes.files.size(); ++i) header = named_in(includes.files[i].text);
  if (header.empty()) return message;
  const std::string_view text = std::ranges::find(shim_files(), header, &ShimFile::name)->text;
  const std::string name = '<' + std::string(header) + '>';
  if (says(text, kOfToolkit))
    return message + ": the host backend takes " + name +
           " from the CUDA toolkit, and finds none; install one, or set CUDA_PATH to its folder";
  return explained(message, says(text, kPartThere) ? "such part of " + name : name);
}

}  // namespace tuner::host
