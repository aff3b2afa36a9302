#pragma once
/// The one rule for "a stored answer, or tune", for the command and the library.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cache/query/lookup.hpp>

#include <tuner/session/tuning/tuning.hpp>

namespace tuner {

struct StoredAnswer {
  /// Whether `match` answers the request. Otherwise the problem has to be tuned; that tuning continues earlier ones
  /// where their results are of use.
  bool is_answer = false;
  /// As Wisdom::lookup() found it. Nothing if the request needs measurements, whatever is stored.
  cache::WisdomMatch match = {};
  std::string why_tune = {};  ///< for people; empty if that is obvious
  std::size_t tried = 0;      ///< configurations that earlier sessions tried, or that are in quarantine; 0: unknown
  std::size_t valid = 0;      ///< configurations of the space; 0: unknown
  /// Of an answer. With Effort::none also that of a similar problem or of single launches, the default, or, if it is
  /// not valid, the first valid one.
  std::string configuration = {};
  bool is_of_other_use = false;  ///< `match` has times of single launches, and the request is for another use

  std::vector<std::string> remarks = {};  ///< Spent::remarks of the earlier sessions, each once
  std::vector<Trial> trials = {};         ///< as TuningOptions::stored_trials says
  bool is_whole_space() const { return valid > 0 && tried >= valid; }
  /// Whether the answer was measured for exactly this. Always so, except with Effort::none.
  bool is_measured() const { return match.best && match.tier == cache::Tier::exact && !is_of_other_use; }
};

/// The limits of a search for \p options: those of its effort, if it has one.
Budget limits_of(const TuningOptions& options, const ProblemSize& size, const Device& device);

/// Decides whether what the databases hold answers \p options. It does not in these cases:
/// - The request asks for measurements: TuningOptions::resume is off, or it wants metrics, hot times, part of a space,
///   a recorded launch or no verification.
/// - The source has headers that cannot be known. The result may then be of another text.
/// - Nothing is stored for exactly this source, problem, device, driver and compiler.
/// - The last session of this problem was interrupted.
/// - TuningOptions::stored_trials requires trials, and none are stored.
/// - The effort of \p options, or a limit, goes beyond what finished sessions spent, and the space has more. A result
///   without sessions (imported or shipped) has its stored effort, and counts as final for limits.
///
/// With Effort::none there is always an answer. Throws Error as unmeasured_configuration(), if nothing is known.
StoredAnswer stored_answer(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                           const TuningOptions& options);

/// The trials of earlier sessions under the conditions of \p options, the last one of each configuration.
std::vector<Trial> stored_trials(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                 const TuningOptions& options);

/// A stored answer, or the result of a tuning.
struct TuneAnswer {
  StoredAnswer known;
  std::optional<SessionResult> found;  ///< nothing: `known` is the answer
};

/// Called before a tuning, with the stored answer that is not enough. Returns the backend for tune_kernel(), or null.
using BeforeTuning = std::function<Backend*(const StoredAnswer& known)>;

/// The stored answer if there is one, else the result of tune_kernel(). \p observer receives the remarks of a stored
/// answer as warnings. Throws Error also if the database is frozen.
TuneAnswer answer_or_tune(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                          const TuningOptions& options, Observer& observer, const BeforeTuning& before);

}  // namespace tuner
