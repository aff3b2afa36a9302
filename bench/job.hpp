#pragma once
/// What the bench programs share: the options that say what is tuned, and reading them.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <tuner/core/error.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace bench {

struct Job {
  std::string device = "cuda";
  std::filesystem::path kernel;  ///< empty: the block-shape job
  std::map<std::string, std::int64_t> sizes;
  bool hot = false;
};

/// Calls the entry of \p options for each `--name value`, and fills \p job from `--device`, `--kernel`,
/// `--size NAME=N` (repeated) and `--hot`. Throws Error for anything else.
inline void parse(int argc, char** argv, Job& job,
                  const std::map<std::string, std::function<void(const std::string&)>>& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--hot") {
      job.hot = true;
      continue;
    }
    if (i + 1 >= argc) throw tuner::Error(name + " needs a value, or is unknown");
    const std::string value = argv[++i];
    if (name == "--device") {
      job.device = value;
    } else if (name == "--kernel") {
      job.kernel = value;
    } else if (name == "--size") {
      const auto equals = value.find('=');
      if (equals == std::string::npos) throw tuner::Error("--size " + value + ": it is NAME=NUMBER");
      job.sizes[value.substr(0, equals)] = std::atoll(value.c_str() + equals + 1);
    } else if (const auto at = options.find(name); at != options.end()) {
      at->second(value);
    } else {
      throw tuner::Error("unknown option " + name);
    }
  }
  if (!job.kernel.empty()) return;
  job.kernel = "bench/data/sum_blocks.cu";
  if (!std::filesystem::exists(job.kernel)) job.kernel = TUNER_SOURCE_DIR / job.kernel;
}

inline std::size_t count(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

}  // namespace bench
