#pragma once
/// The picture of `tune replay --plot`.

#include <string>

#include <tuner/replay/replay_run.hpp>

namespace tuner::replay {

/// A picture with a panel for each space: the mean best so far over time, relative to the optimum. Random search is
/// dashed.
std::string svg_report(const ReplayReport& report);

}  // namespace tuner::replay
