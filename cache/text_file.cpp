// Text files, plain or compressed: see exchange.hpp.

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cache/exchange.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

struct GzClose {
  void operator()(gzFile file) const { (void)gzclose(file); }
};
using OpenGz = std::unique_ptr<gzFile_s, GzClose>;

[[noreturn]] void fail_text(const fs::path& file, const char* verb, const std::string& reason) {
  throw CacheError(fmt::format("{} cannot be {}: {}", file.string(), verb, reason));
}

/// Opens a regular file without blocking: a FIFO has no end, and a device may have none.
OpenGz open_gz(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_text(file, "read", std::strerror(errno));
  struct stat info {};
  OpenGz opened;
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) opened.reset(gzdopen(descriptor, "rb"));
  if (!opened) {
    ::close(descriptor);
    fail_text(file, "read", "it is not a regular file");
  }
  return opened;
}

std::string gz_error(gzFile file) {
  int code = Z_OK;
  const std::string text = gzerror(file, &code);
  return code == Z_ERRNO ? std::strerror(errno) : text;
}

}  // namespace

void write_text(const fs::path& file, std::string_view text) {
  struct stat info {};
  if (::lstat(file.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) fail_text(file, "written", "it exists and is not a regular file");
    std::array<char, 16> magic{};
    const OpenGz old = open_gz(file);
    const int read = gzread(old.get(), magic.data(), magic.size());
    if (read > 0 && is_database({magic.data(), static_cast<std::size_t>(read)}))
      fail_text(file, "written", "it is a database, which text never replaces");
  }
  auto part = file.string() + ".part-XXXXXX";
  const int descriptor = ::mkostemp(part.data(), O_CLOEXEC);
  if (descriptor < 0) fail_text(file, "written", std::strerror(errno));
  (void)::fchmod(descriptor, 0644);
  // "T": no compression.
  gzFile out = gzdopen(descriptor, file.extension() == ".gz" ? "wb9" : "wbT");
  bool good = true;
  while (good && !text.empty()) {
    const auto piece = text.substr(0, std::size_t{1} << 20);
    good = gzwrite(out, piece.data(), static_cast<unsigned>(piece.size())) == static_cast<int>(piece.size());
    text.remove_prefix(piece.size());
  }
  std::string reason = good ? "" : gz_error(out);
  if (gzclose(out) != Z_OK && reason.empty()) reason = std::strerror(errno);
  std::error_code error;
  if (reason.empty()) {
    fs::rename(part, file, error);
    if (error) reason = error.message();
  }
  if (reason.empty()) return;
  fs::remove(part, error);
  fail_text(file, "written", reason);
}

std::string read_text(const fs::path& file, std::size_t limit) {
  const OpenGz in = open_gz(file);  // zlib also reads plain files
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  int got = 0;
  while ((got = gzread(in.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) fail_text(file, "read", fmt::format("its text is longer than {} MiB", limit >> 20));
  }
  int code = Z_OK;
  (void)gzerror(in.get(), &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) fail_text(file, "read", gz_error(in.get()));
  return text;
}

}  // namespace tuner::cache
