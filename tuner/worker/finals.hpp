#pragma once
/// Finalists that are measured again, on each lane at the same time. One lane decides between them. The times of the
/// other lanes show how far their devices are from its device. Internal to the worker room.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <tuner/core/result/evaluator.hpp>
#include <tuner/worker/run_lanes.hpp>

namespace tuner::worker {

class Finals {
 public:
  struct Finalist {
    Configuration configuration;
    std::shared_ptr<const Image> image;  ///< null until it is found or compiled
    std::optional<Trial> failed;         ///< it does not compile
    std::map<int, Trial> trials;         ///< by lane
  };

  /// Keeps \p image if \p trial is among the fastest so far, so that it need not be compiled again as a finalist.
  void offer(const Trial& trial, std::shared_ptr<const Image> image);

  /// \p seconds: RunJob::finals_s.
  void begin(std::vector<Configuration> configurations, double seconds, Placement placement = Placement::present);
  std::vector<Finalist>& finalists() { return finalists_; }
  /// Finalist number \p i; null if that is not \p configuration, because its round has ended.
  Finalist* find(std::size_t i, const Configuration& configuration);
  /// Ends this round without trials. Returns false if there is none.
  bool give_up() { return !std::exchange(finalists_, {}).empty(); }

  /// The job that runs those that compiled. Nothing while there are no finalists or some are not compiled yet; empty
  /// when none compiled.
  std::optional<RunJob> job() const;
  /// Takes the trials of some of the finalists, or of all. A finalist that was measured alone has no Trial::round.
  void measured(int lane, const RunJob& job, const std::vector<Trial>& trials);
  /// The trials, in order, once each of \p lanes has measured all. They are those of the lane on which most finalists
  /// worked. A finalist that was wrong or crashed on any lane has that trial. Ends this round.
  std::optional<std::vector<Trial>> take(std::span<const int> lanes);

  /// Fills in LaneReport::offset of \p lane from all rounds that have ended.
  void describe(int lane, LaneReport& report) const;

 private:
  bool complete(int lane) const;
  const Trial& trial(const Finalist& one, int decider, std::span<const int> lanes) const;
  void compare(int lane, int decider);

  std::map<Configuration, std::pair<double, std::shared_ptr<const Image>>> fastest_;  // with its median time
  std::vector<Finalist> finalists_;
  double seconds_ = 0;
  int round_ = 0;
  std::uint32_t placement_ = 0;
  bool in_new_process_ = false;
  std::set<Configuration> known_;              // were measured again and right
  std::map<int, std::vector<double>> ratios_;  // by lane: its median over the decider's, one for each finalist
};

}  // namespace tuner::worker
