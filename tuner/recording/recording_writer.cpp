#include <tuner/recording/recording_writer.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include <cache/records/json.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/core/values/input_file.hpp>
#include <tuner/error.hpp>
#include <tuner/recording/kernel_copy.hpp>
#include <tuner/recording/launch_recording.hpp>
#include <tuner/version.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;
constexpr std::size_t kLongestName = 120;

[[noreturn]] void fail_to_write(const fs::path& path) {
  throw Error("cannot write " + path.string() + ": " + std::strerror(errno));
}

std::string plain(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::strchr("=_.,+-", c) == nullptr) c = '-';
  return text;
}

}  // namespace

std::string recording_name(const KernelSpec& spec, const ProblemSize& size, const std::string& kernel_hash) {
  const std::string problem = size.text();
  std::string name = plain(spec.name + (problem.empty() ? "" : "-" + problem)).substr(0, kLongestName);
  return name + '-' + cache::sha256_of_parts({kernel_hash, problem}).substr(0, 8) + ".recording";
}

struct RecordingWriter::State {
  ~State() {
    std::error_code ignored;
    if (!published) fs::remove_all(unfinished, ignored);
  }

  fs::path path, unfinished;
  Json list;
  bool published = false;
};

RecordingWriter::RecordingWriter(const fs::path& folder, const std::string& name, const KernelSpec& spec,
                                 const ProblemSize& size, const Device& device, const std::string& kernel_hash)
    : state_(std::make_unique<State>()) {
  static std::atomic<unsigned> begun{0};
  State& s = *state_;
  s.path = folder / name;
  s.unfinished = folder / ('.' + name + ".unfinished-" + std::to_string(::getpid()) + '-' + std::to_string(++begun));
  try {
    fs::create_directories(folder);
    if (!fs::create_directory(s.unfinished)) throw Error(s.unfinished.string() + " is there already");  // or a link
    fs::permissions(s.unfinished, fs::perms::owner_all);  // the application's data belongs to its owner only
  } catch (const fs::filesystem_error& error) {
    throw Error(error.what());
  }
  const fs::path kernel = fs::path("kernel") / copy_kernel(spec, s.unfinished / "kernel");
  s.list = {{"format", kRecordingFormat},
            {"version", kRecordingVersion},
            {"tuner", kVersion},
            {"kernel", {{"name", spec.name}, {"file", kernel.generic_string()}, {"sha256", kernel_hash}}},
            {"sizes", size.sizes},
            {"choices", size.choices},
            {"configuration", nullptr},
            {"device", {{"name", device.name}, {"key", device.key.text()}, {"backend", device.key.backend}}},
            {"scalars", Json::object()},
            {"buffers", Json::object()}};
}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::set_configuration(const Configuration& configuration) {
  state_->list["configuration"] = configuration.text();
}

void RecordingWriter::add_scalar(const std::string& name, const std::string& text) {
  state_->list["scalars"][name] = text;
}

void RecordingWriter::add_buffer(const std::string& name, When when, ElementType type, std::size_t count,
                                 const Copy& copy) {
  const std::string moment = when == When::before ? "before" : "after";
  const fs::path path = state_->unfinished / (name + '.' + moment + ".npy");
  const std::size_t bytes = count * info(type).bytes;
  const std::string header = npy_header(type, count);
  std::ofstream file(path, std::ios::binary);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  std::vector<char> piece(std::min(bytes, kPieceBytes));
  for (std::size_t at = 0; at < bytes && file; at += piece.size()) {
    const std::size_t part = std::min(piece.size(), bytes - at);
    copy(piece.data(), at, part);
    file.write(piece.data(), static_cast<std::streamsize>(part));
  }
  file.close();
  if (!file) fail_to_write(path);
  state_->list["buffers"][name][moment] = {{"file", path.filename().string()},
                                           {"type", info(type).name},
                                           {"elements", count},
                                           {"bytes", header.size() + bytes},
                                           {"sha256", cache::sha256_file(path)}};
}

bool RecordingWriter::publish() {
  State& s = *state_;
  const fs::path path = s.unfinished / kRecordingFile;
  std::ofstream file(path, std::ios::binary);
  file << text_of_json(s.list, 2) << '\n';
  file.close();
  if (!file) fail_to_write(path);
  std::error_code error;
  fs::rename(s.unfinished, s.path, error);  // fails if the folder exists and is not empty
  std::error_code ignored;
  if (error && !fs::exists(s.path, ignored)) throw Error("cannot write " + s.path.string() + ": " + error.message());
  s.published = !error;
  return s.published;
}

const fs::path& RecordingWriter::path() const { return state_->path; }

}  // namespace tuner
