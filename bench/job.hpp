#pragma once
/// The options for programs that tune one kernel.

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include <bench/options.hpp>

namespace bench {

/// \p name in the source tree; in the current folder, if the program was copied along with it.
inline std::filesystem::path source_file(const std::filesystem::path& name) {
  return std::filesystem::exists(name) ? name : TUNER_SOURCE_DIR / name;
}

struct Job {
  std::string device = "cuda";
  std::filesystem::path kernel = source_file("bench/data/sum_blocks.cu");
  std::map<std::string, std::int64_t> sizes;
  bool hot = false;
};

/// parse() that also fills \p job from `--device`, `--kernel`, `--size NAME=N` (repeated) and `--hot`.
inline void parse(int argc, char** argv, Job& job, ValueOptions options) {
  options["--device"] = into(job.device);
  options["--kernel"] = into(job.kernel);
  options["--size"] = [&job](const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("it is NAME=NUMBER");
    job.sizes[text.substr(0, equals)] = static_cast<std::int64_t>(number(text.substr(equals + 1)));
  };
  parse(argc, argv, options, {{"--hot", &job.hot}});
}

}  // namespace bench
