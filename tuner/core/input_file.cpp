#include <tuner/core/input_file.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject_input(const fs::path& path, std::string_view what, const std::string& reason) {
  throw Error(ErrorCode::not_found,
              "cannot read " + std::string(what) + ' ' + '\'' + printable(path.string()) + "': " + reason);
}

std::string size_limit_text(std::int64_t limit) { return "it is larger than " + std::to_string(limit) + " bytes"; }

}  // namespace

void require_input_file(const fs::path& path, std::int64_t limit, std::string_view what) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) reject_input(path, what, "there is no such file");
  if (error) reject_input(path, what, error.message());
  if (status.type() == fs::file_type::directory) reject_input(path, what, "it is a folder");
  if (status.type() != fs::file_type::regular) reject_input(path, what, "it is no regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) reject_input(path, what, error.message());
  if (size > static_cast<std::uintmax_t>(limit)) reject_input(path, what, size_limit_text(limit));
}

std::string read_input_file(const fs::path& path, std::int64_t limit, std::string_view what) {
  require_input_file(path, limit, what);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) reject_input(path, what, std::strerror(errno));
  std::string text(static_cast<std::size_t>(fs::file_size(path)) + 1, '\0');  // one more: a file that grows shows
  std::size_t size = 0;
  while (file.read(text.data() + size, static_cast<std::streamsize>(text.size() - size))) {
    size = text.size();
    if (size > static_cast<std::size_t>(limit)) reject_input(path, what, size_limit_text(limit));
    text.resize(2 * size);
  }
  if (file.bad()) reject_input(path, what, std::strerror(errno));
  text.resize(size + static_cast<std::size_t>(file.gcount()));
  if (text.size() > static_cast<std::size_t>(limit)) reject_input(path, what, size_limit_text(limit));
  return text;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

}  // namespace tuner
