#pragma once
/// Settings of the library in this process. All have defaults; most programs never change them. Thread-safe. C++17.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <tuner/effort.hpp>
#include <tuner/version.hpp>

namespace tuner {
inline namespace TUNER_ABI {

/// The reaction of a call that no wisdom answers.
enum class TuneOnMiss {
  never,  ///< use the nearest wisdom or the kernel file's default configuration
  /// Tunes in worker processes for Settings::tuning_time and at most 0.2 s more, stores the result and uses it. A
  /// configuration that crashes or hangs costs a worker, not this process. Gives one warning, and continues as with
  /// `never`, if `tuner-worker` or a compiler is not installed, or if the kernel is described only in code.
  ///
  /// Threads that miss the same problem wait for the tuning. Threads that miss another problem of the device continue
  /// as with `never`. Other processes with the same database wait too, once and no longer than the tuning may take.
  /// Then they continue as with `never` until a later call finds the result. If the process that tunes dies, another
  /// takes over if a quarter of its tuning time is left.
  ///
  /// A tuning that ends without a result is remembered, with its trials, in the user's database. The next one for the
  /// same size class, kernel source and device begins after an hour at the earliest, the third after two more hours,
  /// and so on. Until then calls continue as with `never`.
  on_first_use,
  /// `on_first_use` on a GPU, `never` on the host, whose cores the program needs.
  automatic,
};

/// If $TUNER_FROZEN names a database that `tune db freeze` made, that file alone answers every call, the same in every
/// process. No other database is read, nothing is tuned (`tune` is never), and no miss is remembered. If the file is
/// missing, damaged or not frozen, every call throws Error.
struct Settings {
  /// $TUNER_TUNE=auto|never|on_first_use overrides it.
  TuneOnMiss tune = TuneOnMiss::automatic;
  /// $TUNER_TUNE_TIME, in seconds, overrides it.
  std::chrono::duration<double> tuning_time{2.0};
  /// How much tune() spends, unless its options say more. `none`: calls do not tune either, whatever `tune` says.
  /// $TUNER_EFFORT=none|quick|normal|thorough overrides it.
  Effort effort = Effort::normal;
  /// "auto": the GPU of the current context, else the first GPU, else the host. "cuda", "host", or the ordinal of a
  /// GPU, such as "0", which threads without a current context use. $TUNER_DEVICE overrides it.
  std::string device = "auto";
  /// The user's database; empty: `wisdom.db` in the cache folder. Ignored with $TUNER_FROZEN.
  std::string database;
  /// Remember calls that had no result for their size class (`tune show --missed`). $TUNER_MISSES=remember|never
  /// overrides it.
  bool remember_misses = true;
  /// Receives each warning once, such as an unwritable cache, in the thread that caused it. No lock is held. Default:
  /// one line on stderr.
  std::function<void(std::string_view)> on_warning;
};

/// Replaces the settings. Call it before the first launch: the device and the database are chosen only once, and other
/// settings affect only later first calls. An impossible value is reported by the call that needs it.
void configure(Settings settings);

/// Frees the device memory that the library keeps for launches: the work space of all streams, and the room for
/// captures that no graph uses (prepare() makes it again). Waits for all work in the contexts that launches used. The
/// next launch on a stream allocates again. Throws Error when a device fails.
void trim();

}  // namespace TUNER_ABI
}  // namespace tuner
