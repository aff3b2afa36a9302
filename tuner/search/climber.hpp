#pragma once
/// The inner loop of the local searches: from a configuration to a local optimum of its neighbourhood. Internal to
/// the room.

#include <cmath>
#include <vector>

#include <tuner/search/history.hpp>

namespace tuner::search {

/// First improvement: neighbours in random order, moves at the first better one, ends when none is.
class Climber {
 public:
  Climber(const EnumeratedSpace& space, Random& random, Neighbourhood kind)
      : space_(space), random_(random), kind_(kind) {}

  void begin(Index at) {
    wanted_ = at;
    objective_ = HUGE_VAL;
    around_.clear();
    fresh_start_ = true;
    done_ = false;
  }
  Index wanted() const { return wanted_; }
  bool done() const { return done_; }
  /// The local optimum, once done(); where the climb is, before.
  Index here() const { return here_; }
  double objective() const { return objective_; }

  void advance(double objective) {
    if (fresh_start_ || objective < objective_) {
      fresh_start_ = false;
      here_ = wanted_;
      objective_ = objective;
      around_ = space_.neighbours(here_, kind_);
      random_.shuffle(around_);
    }
    done_ = around_.empty();
    if (done_) return;
    wanted_ = around_.back();
    around_.pop_back();
  }

 private:
  const EnumeratedSpace& space_;
  Random& random_;
  Neighbourhood kind_;
  Index wanted_ = 0;
  Index here_ = 0;
  double objective_ = HUGE_VAL;
  std::vector<Index> around_;  // not tried yet
  bool fresh_start_ = true;
  bool done_ = false;
};

}  // namespace tuner::search
