#pragma once
/// The databases of this process: the user's own and the shipped ones. Each is opened once, and lookups ask all.

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cache/file/disk.hpp>
#include <cache/query/database.hpp>
#include <cache/query/lookup.hpp>

#include <tuner/core/device/device.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

struct WisdomOptions {
  /// The user's database. If empty: only the frozen database that $TUNER_FROZEN names, or, when that is not set, the
  /// database in the default place.
  std::filesystem::path database;
  bool shipped = true;  ///< also use shipped databases
  std::function<void(std::string_view)> warn;
  bool read_only = false;  ///< the user's database is neither written nor created; a broken one is an error

  bool check = true;  ///< look for damage when the user's database is opened
  /// How long opening and reading wait for another process that has locked the user's database.
  std::chrono::milliseconds patience{10'000};
};

class Wisdom {
 public:
  /// If a database cannot be opened, warns and uses memory instead. With read_only, throws instead. Throws Error for a
  /// frozen database that cannot be used. Later questions throw, too, if a frozen database has changed.
  explicit Wisdom(const WisdomOptions& options);

  /// The user's database, or the frozen one.
  cache::Database& user() { return user_; }
  /// Whether one frozen database answers everything. Then nothing is stored, and tuning is not possible.
  bool frozen() const { return user_.is_frozen(); }
  /// Throws Error when the database is frozen. The message explains how to do \p what ("tune") instead.
  void require_not_frozen(const std::string& what) const;
  /// The user's database first, then the shipped ones. Leaves out shipped ones that are known to have no results for \p
  /// device_key; empty: leaves out none. Opens each at its first use. If one cannot be read now, leaves it out and puts
  /// the reason into \p unavailable; the next call tries again. Thread-safe.
  std::vector<cache::Database*> databases(const std::string& device_key = {}, std::string* unavailable = nullptr);

  /// Looks again at the shipped databases that could not be read or used. Returns whether databases() may now have
  /// others. Takes a few microseconds if there are none. Thread-safe.
  bool look_for_shipped();

  /// The best known configuration of \p spec for \p size on \p device. Skips candidates that the kernel's space, its
  /// constraints or the device's limits reject, and those in \p broken, which do not compile or load. The answer lists
  /// skipped candidates. \p around: see cache::lookup; empty: the lowest sizes of the class, as in a call. If headers
  /// of \p spec cannot be known, a result counts only if it was measured after this object was made: an older one may
  /// be of another text. Times in a use other than single launches are looked for on this device only.
  cache::WisdomMatch lookup(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                            const Objective& objective = {}, const cache::Sizes& around = {},
                            const std::set<Configuration>& broken = {});

  /// The same for times in \p use. A result for single launches answers if none of that use is for this device and as
  /// near. A result for sizes of the same class is nearer than a rule.
  cache::WisdomMatch lookup_in_use(Use use, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                   const cache::Sizes& around = {}, const std::set<Configuration>& broken = {});

  /// Sizes that were measured in \p use on \p device with the choices of \p least, each between that of \p least and
  /// that of \p most. nullopt: see cache::measured_sizes.
  std::optional<std::vector<cache::Sizes>> measured_sizes(const KernelSpec& spec, const ProblemSize& least,
                                                          const cache::Sizes& most, std::size_t limit,
                                                          const Device& device, Use use = Use::single);
  /// Whether any configuration of \p spec is in quarantine on \p device, for any problem.
  bool has_quarantine(const KernelSpec& spec, const Device& device);

 private:
  struct Shipped {
    std::filesystem::path file;
    std::map<std::string, bool> lacks;  // cache::lacks_device() by device key
    bool opened = false;
    std::optional<cache::Database> database;  // nullopt: closed, or not usable
    cache::FileStamp stamp;                   // of a file that is not usable
  };
  template <class Ask>
  auto answer(const Ask& ask);

  const std::int64_t made_ms_ = cache::now_ms();
  cache::Database user_;
  std::function<void(std::string_view)> warn_;
  void list_shipped();

  std::mutex opening_;
  std::deque<Shipped> shipped_;  // its members stay where they are
  std::string unlisted_;         // why a place of shipped databases could not be read
};

}  // namespace tuner
