#include <tuner/convert/conversion.hpp>

#include <fmt/format.h>

#include <cache/error.hpp>
#include <cache/disk.hpp>

#include <tuner/convert/kernel_draft.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::convert {

void read_source(KernelDraft& draft) {
  try {
    draft.source_text = cache::read_text(draft.source, std::size_t{1} << 20);
  } catch (const cache::CacheError&) {
    draft.source_text.clear();  // finished() reports it
  }
}

namespace {

/// Whether the outermost object of \p text has \p member, without a complete parse.
bool has_member(const std::string& text, const std::string& member) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::size_t begin = ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      if (depth == 1 && i <= text.size() && text.compare(begin, i - begin, member) == 0 && i - begin == member.size())
        return true;
    } else if (text[i] == '{' || text[i] == '[') {
      ++depth;
    } else if (text[i] == '}' || text[i] == ']') {
      --depth;
    }
  }
  return false;
}

/// The text after the comments at the start of a wisdom file.
std::string without_first_comments(const std::string& text) {
  std::size_t at = 0;
  for (;;) {
    at = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF", at);
    if (at == std::string::npos || text[at] != '#') break;
    at = text.find('\n', at);
  }
  return at == std::string::npos ? "" : text.substr(at);
}

KernelDraft read_draft(const std::string& text, const std::filesystem::path& file) {
  const std::string plain = without_first_comments(text);
  if (plain.starts_with('{')) {
    if (has_member(plain.substr(0, plain.find('\n')), "tunable_parameters")) return read_launcher_wisdom(text, file);
    return has_member(plain, "config_space") ? read_launcher_capture(text, file) : read_t1(text, file);
  }
  if (auto draft = read_launcher_pragmas(text, file)) return std::move(*draft);
  if (text.find("tune_kernel") != std::string::npos) return read_kernel_tuner_script(text, file);
  throw Error(
      fmt::format("{}: not a T1 description (JSON), a script that calls tune_kernel, or a file of Kernel Launcher: a "
                  "captured launch, wisdom, or kernels with `#pragma kernel`",
                  file.string()));
}

}  // namespace

Conversion convert_text(const std::string& text, const std::filesystem::path& file,
                        const std::filesystem::path& folder) {
  if (text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") == std::string::npos)
    throw Error(fmt::format("{}: the file is empty", file.string()));
  return read_draft(text, file).finished(folder);
}

Conversion convert_file(const std::filesystem::path& file, const std::filesystem::path& folder) {
  try {
    return convert_text(cache::read_text(file, std::size_t{16} << 20), file, folder);
  } catch (const cache::CacheError& error) {
    throw Error(error.what());
  }
}

void require_other_file(const std::filesystem::path& output, const std::filesystem::path& file,
                        const Conversion& made) {
  namespace fs = std::filesystem;
  const auto is_output = [&](const fs::path& other) {
    std::error_code error;
    return fs::equivalent(output, other, error) ||
           fs::absolute(output).lexically_normal() == fs::absolute(other).lexically_normal();
  };
  const char* const what = is_output(file) ? "the file to convert"
                           : !made.source.empty() && is_output(made.source)
                               ? "the kernel's source, which is never changed"
                               : nullptr;
  if (what)
    throw Error(fmt::format("{}: it is {}; nothing was changed. Give another name", printable(output.string()), what));
}

}  // namespace tuner::convert
