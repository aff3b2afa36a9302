#pragma once
/// The databases of this process: the user's own and the shipped ones, opened once, asked together.

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cache/database.hpp>
#include <cache/lookup.hpp>

#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/objective.hpp>

namespace tuner {

struct WisdomOptions {
  /// The user's database; empty: the frozen one that $TUNER_FROZEN names, and no other, else the one in the default
  /// place.
  std::filesystem::path database;
  bool shipped = true;  ///< look for shipped databases at all
  std::function<void(std::string_view)> warn;
  bool read_only = false;  ///< the user's database is not written, nor made; one that is broken is an error
};

class Wisdom {
 public:
  /// Never fails, unless it is to read only: what cannot be opened is replaced by memory, with a warning. Throws Error
  /// for a frozen database that cannot be used, and so does every question about one that breaks in use.
  explicit Wisdom(const WisdomOptions& options);

  /// The frozen one where that is all there is.
  cache::Database& user() { return user_; }
  /// Whether everything is answered from one frozen database: nothing is stored, and nobody tunes.
  bool frozen() const { return user_.is_frozen(); }
  /// Throws Error, saying what to do instead of \p what ("tune"), where everything is frozen.
  void require_not_frozen(const std::string& what) const;
  /// The user's own first, then the shipped ones, without those that name their devices and lack \p device_key (empty:
  /// all). Each is opened when it is first asked for. Thread-safe.
  std::vector<cache::Database*> databases(const std::string& device_key = {});

  /// The best known configuration of \p spec for \p size on \p device. Candidates that the kernel's space, its
  /// constraints or the device's limits reject are passed over, and listed in the answer, as are those that are \p
  /// broken: known not to compile or load. \p around: see cache::lookup.
  cache::WisdomMatch lookup(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                            const Objective& objective = {}, const cache::Sizes& around = {},
                            const std::set<Configuration>& broken = {});

  /// Sizes with a result of their own on \p device, with the choices of \p like: each from that of \p like on, and
  /// within a factor of two, as the sizes of a class are.
  std::vector<cache::Sizes> measured_sizes(const KernelSpec& spec, const ProblemSize& like, const Device& device);
  /// Whether some configuration of \p spec is in quarantine on \p device, for whatever problem.
  bool has_quarantine(const KernelSpec& spec, const Device& device);

 private:
  struct Shipped {
    std::filesystem::path file;
    std::map<std::string, bool> lacks;  // by the key of a device: cache::lacks_device()
    bool opened = false;
    std::optional<cache::Database> database;  // none: it is closed, or cannot be used
  };
  template <class Ask>
  auto answer(const Ask& ask);

  cache::Database user_;
  std::function<void(std::string_view)> warn_;
  std::mutex opening_;
  std::vector<Shipped> shipped_;
};

}  // namespace tuner
