#include <sstream>

#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/backend/cuda/toolkit.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTitle = "tuner nvrtc 1";
constexpr const char* kEndOfSearch = "found";

/// Size, time of the last change, and inode of \p file, zeros if it does not exist; and its path.
std::string stamped(const fs::path& file) {
  const cache::FileStamp is = cache::real_disk().stamp_of(file);
  std::ostringstream text;
  text << is.bytes << ' ' << is.written_ns << ' ' << is.identity.second << "  " << file.string();
  return text.str();
}

}  // namespace

std::string nvrtc_search_text(const NvrtcSearch& search) {
  std::ostringstream text;
  text << "asked " << search.asked << "\nloader " << environment("LD_LIBRARY_PATH") << "\nmajor " << search.newest_major
       << "\ncapabilities";
  for (const int capability : search.capabilities) text << ' ' << capability;
  for (const fs::path& file : nvrtc_candidates(search)) text << '\n' << stamped(file);
  return text.str() + '\n';
}

void write_nvrtc_facts(const fs::path& file, const NvrtcSearch& search, const Nvrtc& nvrtc, cache::Disk& disk) {
  std::ostringstream text;
  text << kTitle << '\n' << nvrtc_search_text(search) << kEndOfSearch << '\n' << stamped(nvrtc.library) << '\n';
  for (const fs::path& folder : nvrtc.includes)
    for (const char* header : {"cuda_runtime_api.h", "cub/version.cuh"}) text << stamped(folder / header) << '\n';
  text << "version " << nvrtc.version << "\narchitectures";
  for (const int architecture : nvrtc.architectures) text << ' ' << architecture;
  text << "\nheaders " << nvrtc.headers << '\n';

  (void)disk.replace(file, text.str());
}

std::optional<NvrtcFacts> read_nvrtc_facts(const fs::path& file, const NvrtcSearch& search, cache::Disk& disk) {
  std::string written;
  if (disk.read(file, cache::kMaxTextBytes, written) || !written.ends_with('\n')) return std::nullopt;
  std::istringstream text(written);
  std::string line, asked;
  if (!std::getline(text, line) || line != kTitle) return std::nullopt;
  while (std::getline(text, line) && line != kEndOfSearch) asked += line + '\n';
  if (asked != nvrtc_search_text(search)) return std::nullopt;
  NvrtcFacts facts;
  while (std::getline(text, line)) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space), rest = space == line.npos ? "" : line.substr(space + 1);
    std::istringstream numbers(rest);
    if (word == "version") {
      numbers >> facts.version;
    } else if (word == "architectures") {
      for (int number = 0; numbers >> number;) facts.architectures.push_back(number);
    } else if (word == "headers") {
      facts.headers = rest;
      return facts.version > 0 && !facts.architectures.empty() ? std::optional(facts) : std::nullopt;
    } else if (const std::size_t path = line.find("  "); path == line.npos || stamped(line.substr(path + 2)) != line) {
      return std::nullopt;
    }
  }
  return std::nullopt;  // a part of it is missing
}

}  // namespace tuner::cuda
