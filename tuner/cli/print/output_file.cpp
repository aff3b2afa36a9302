#include <tuner/cli/print/output_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include <cache/file/disk.hpp>
#include <cache/query/database.hpp>
#include <cache/query/shipped.hpp>

#include <tuner/cli/print/terminal.hpp>
#include <tuner/convert/results_files.hpp>
#include <tuner/convert/tuned_header.hpp>
#include <tuner/error.hpp>
#include <tuner/report/page.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

enum class Standing { free, file, database, folder, special };

struct Found {
  Standing standing;
  std::string_view text;                ///< completes "it is "
  std::optional<OutputKind> kind = {};  ///< of what tuner wrote
};

constexpr Found kForeignFile{Standing::file, "a file that tuner did not write"};
constexpr Found kWisdomDatabase{Standing::database, "a wisdom database"};
constexpr Found kFrozenDatabase{Standing::database, "a frozen database", OutputKind::frozen};

Found text_with(std::string_view head) {
  struct Mark {
    std::string_view head;
    OutputKind kind;
    std::string_view text;
  };
  static constexpr Mark kMarks[] = {{convert::kResultsMark, OutputKind::results, "results for another tuner"},
                                    {convert::kHeaderMark, OutputKind::header, "a header of tuned configurations"},
                                    {R"({"tuner_wisdom")", OutputKind::wisdom_text, "wisdom text"},
                                    {R"({"kernel")", OutputKind::trial_log, "a log of trials"},
                                    {"kernel,problem,", OutputKind::table, "a table of configurations"},
                                    {"<svg", OutputKind::picture, "a picture"},
                                    {report::kPageMark, OutputKind::report, "a report"}};
  while (head.starts_with('#')) head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  for (const Mark& mark : kMarks)
    if (head.starts_with(mark.head)) return {Standing::file, mark.text, mark.kind};
  return kForeignFile;
}

Found database_with(std::string_view head) {
  std::uint32_t application = 0;  // SQLite's file format, section 1.3: four bytes at 68, the highest first
  for (std::size_t i = 68; i < 72 && i < head.size(); ++i) application = application << 8 | (head[i] & 0xffu);
  return application == cache::kApplicationId ? kWisdomDatabase
                                              : Found{Standing::database, "a database of another program"};
}

Found file_at(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(4096, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || (head.empty() && !file.eof())) return {Standing::file, "a file that cannot be read"};
  if (head.empty()) return {Standing::free, "an empty file"};
  if (cache::is_database(head)) return cache::is_frozen_file(path) ? kFrozenDatabase : database_with(head);
  if (!head.starts_with("\x1f\x8b")) return text_with(head);
  try {
    return text_with(cache::read_text(path));  // it was compressed
  } catch (const cache::CacheError&) {
    return kForeignFile;
  }
}

Found found_at(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return {Standing::free, "nothing"};
  if (fs::is_regular_file(status)) return file_at(path);
  if (fs::is_directory(status)) return {Standing::folder, "a folder"};
  const bool is_device = fs::is_block_file(status) || fs::is_character_file(status);
  return {Standing::special, fs::is_symlink(status) ? "a link" : is_device ? "a device" : "not a regular file"};
}

/// Throws Error unless files can be made in the folder of \p path: a result must not fail after all the work for it.
void require_folder(const fs::path& path, std::string_view option) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (::access((folder / "").c_str(), W_OK | X_OK) == 0) return;
  throw Error(
      fmt::format("{} {}: no file can be written in the folder {}: {}; nothing was changed. Give a name in "
                  "another folder",
                  option, printable(path.string()), printable(folder.string()), std::strerror(errno)));
}

}  // namespace

void refuse_standard_output(const fs::path& path, std::string_view option) {
  if (path == "-") throw UsageError("{} -: this goes to a file, not to standard output", option);
}

void require_output(const fs::path& path, OutputKind kind, bool force, std::string_view option) {
  if (kind == OutputKind::frozen) refuse_standard_output(path, option);
  if (path == "-") return;
  const Found found = found_at(path);
  const bool is_log = kind == OutputKind::trial_log;
  const bool never = found.standing == Standing::folder || found.standing == Standing::database ||
                     kind == OutputKind::frozen || (!is_log && found.standing == Standing::special);
  if (found.standing == Standing::free || found.kind == kind || (force && !never))
    return is_log ? void() : require_folder(path, option);  // a log is opened at once
  if (kind == OutputKind::kernel_file && found.text == kForeignFile.text)
    throw Error(
        fmt::format("{} exists and may have your changes; give another name, or --force", printable(path.string())));
  throw Error(fmt::format("{} {}: it is {} and would be {}; nothing was changed. Give another name{}", option,
                          printable(path.string()), found.text, is_log ? "appended to" : "replaced",
                          never ? "" : ", or --force"));
}

void require_output_or_stdout(const Given& given, const std::string& path, OutputKind kind, std::string_view option) {
  if (path == "-") given.refuse({"force"}, "on standard output");
  require_output(path, kind, given.flag("force"), option);
}

bool write_or_print(const std::string& path, const std::string& text) {
  const bool is_file = path != "-";
  is_file ? cache::write_text(path, text) : print(text);
  return is_file;
}

void require_database(const fs::path& path, std::string_view option) {
  refuse_standard_output(path, option);
  std::error_code error;
  const Found found = found_at(fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path);
  if (found.standing == Standing::free || found.text == kWisdomDatabase.text || found.text == kFrozenDatabase.text)
    return;
  throw Error(fmt::format("{} {}: it is not a wisdom database but {}; nothing was changed", option,
                          printable(path.string()), found.text));
}

}  // namespace tuner::cli
