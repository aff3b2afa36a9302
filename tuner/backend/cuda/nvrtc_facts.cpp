#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <system_error>

#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/backend/cuda/toolkit.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTitle = "tuner nvrtc 1";
constexpr const char* kEndOfSearch = "found";

/// Size, time of the last change, and inode of \p file; "none" if it does not exist.
std::string stamp(const fs::path& file) {
  struct stat is {};
  if (::stat(file.c_str(), &is) != 0) return "none";
  std::ostringstream text;
  text << is.st_size << ' ' << is.st_mtim.tv_sec << '.' << is.st_mtim.tv_nsec << ' ' << is.st_ino;
  return text.str();
}

std::string stamped(const fs::path& file) { return stamp(file) + "  " + file.string(); }

}  // namespace

std::string nvrtc_search_text(const NvrtcSearch& search) {
  std::ostringstream text;
  text << "asked " << search.asked << "\nloader " << environment("LD_LIBRARY_PATH") << "\nmajor " << search.newest_major
       << "\ncapabilities";
  for (const int capability : search.capabilities) text << ' ' << capability;
  for (const fs::path& file : nvrtc_candidates(search)) text << '\n' << stamped(file);
  return text.str() + '\n';
}

void write_nvrtc_facts(const fs::path& file, const NvrtcSearch& search, const Nvrtc& nvrtc) {
  std::ostringstream text;
  text << kTitle << '\n' << nvrtc_search_text(search) << kEndOfSearch << '\n' << stamped(nvrtc.library) << '\n';
  for (const fs::path& folder : nvrtc.includes)
    for (const char* header : {"cuda_runtime_api.h", "cub/version.cuh"}) text << stamped(folder / header) << '\n';
  text << "version " << nvrtc.version << "\narchitectures";
  for (const int architecture : nvrtc.architectures) text << ' ' << architecture;
  text << "\nheaders " << nvrtc.headers << '\n';

  const fs::path part = file.string() + ".part-" + std::to_string(::getpid());
  std::error_code ignored;
  std::ofstream(part) << text.str() << std::flush;
  fs::rename(part, file, ignored);  // readers find the whole file or none
  if (ignored) fs::remove(part, ignored);
}

std::optional<NvrtcFacts> read_nvrtc_facts(const fs::path& file, const NvrtcSearch& search) {
  std::ifstream text(file);
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
