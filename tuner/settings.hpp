#pragma once
/// Process-wide settings of the library. Everything has a default; most programs never touch them. C++17.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace tuner {

/// What a call does when no wisdom answers it.
enum class TuneOnMiss {
  never,         ///< use the nearest wisdom or the kernel file's default configuration
  on_first_use,  ///< tune for at most Settings::tuning_time, keep the result, go on
};

struct Settings {
  /// Also $TUNER_TUNE=never|on_first_use, which wins over this.
  TuneOnMiss tune = TuneOnMiss::on_first_use;
  /// Also $TUNER_TUNE_TIME in seconds.
  std::chrono::duration<double> tuning_time{2.0};
  /// "auto" (the first GPU, else the host), "cuda", "host". Also $TUNER_DEVICE.
  std::string device = "auto";
  /// The user's database; empty: `user.db` in the cache folder.
  std::string database;
  /// Told of conditions that do not stop work, once each (an unwritable cache). Default: one line on stderr.
  std::function<void(std::string_view)> on_warning;
};

/// Replaces the settings. Call before the first launch; later calls affect devices that were not used yet.
void configure(Settings settings);

}  // namespace tuner
