#pragma once
/// Process-wide settings of the library. Everything has a default; most programs never touch them. Thread-safe. C++17.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace tuner {

/// What a call does when no wisdom answers it.
enum class TuneOnMiss {
  never,  ///< use the nearest wisdom or the kernel file's default configuration
  /// Tune in worker processes for Settings::tuning_time and at most 0.2 s more, keep the result, and serve it. A
  /// configuration that crashes or hangs costs a worker, not this process. Where the program `tuner-worker` or a
  /// compiler is not installed, and for a kernel described in code alone, one warning says so and the call is served as
  /// with `never`. Threads that miss the same problem wait for the tuning; those that miss another problem of the
  /// device are served as with `never`. Other processes with the same database also wait, once and no longer than the
  /// tuning may take; then they are served as with `never` until a later call finds the result. When the process that
  /// tunes dies, another one takes over if a quarter of its own time is left.
  on_first_use,
};

/// $TUNER_FROZEN names a database that `tune freeze` made: then every call is answered from that file alone, the same
/// in every process. No other database is read, nobody tunes (`tune` is never), no miss is remembered, and a file that
/// is missing, damaged or not frozen is an Error of every call.
struct Settings {
  /// Also $TUNER_TUNE=never|on_first_use, which wins over this.
  TuneOnMiss tune = TuneOnMiss::on_first_use;
  /// Also $TUNER_TUNE_TIME in seconds.
  std::chrono::duration<double> tuning_time{2.0};
  /// "auto" (the GPU of the current context, else the first GPU, else the host), "cuda", "host", or the ordinal of the
  /// GPU for threads that have no current context: "0". Also $TUNER_DEVICE.
  std::string device = "auto";
  /// The user's database; empty: `wisdom.db` in the cache folder. Not looked at under $TUNER_FROZEN.
  std::string database;
  /// Remember what is served without a result of its own (`tune todo`). Also $TUNER_MISSES=remember|never, which wins
  /// over this.
  bool remember_misses = true;
  /// Told of conditions that do not stop work, once each (an unwritable cache), by the thread that met them; no lock is
  /// held. Default: one line on stderr.
  std::function<void(std::string_view)> on_warning;
};

/// Replaces the settings. Call before the first launch: the device and the database are chosen once; the rest holds for
/// what is met for the first time afterwards. A value that cannot be is reported by the call that needs it.
void configure(Settings settings);

/// Gives back the device memory that launches have left with the library: the work space of all streams, and room for
/// captures that no graph uses (prepare() makes it anew). Waits for what runs in the contexts that were served. The
/// next launch on a stream allocates again. Throws Error when a device fails.
void trim();

}  // namespace tuner
