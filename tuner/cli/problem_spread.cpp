#include <tuner/cli/problem_spread.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tuner::cli {

ProblemSpread::ProblemSpread(std::vector<std::size_t> most_devices, std::size_t devices)
    : most_devices_(std::move(most_devices)),
      devices_(devices),
      free_(devices),
      waiting_(most_devices_.size()),
      went_back_(most_devices_.size()) {
  std::iota(free_.begin(), free_.end(), std::size_t{0});
  std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
}

std::optional<ProblemSpread::Share> ProblemSpread::next() {
  if (free_.empty() || waiting_.empty()) return std::nullopt;
  Share share{waiting_.front(), {}};
  const std::size_t most = went_back_[share.problem] ? 1 : most_devices_[share.problem];
  const std::size_t fair = std::max<std::size_t>(free_.size() / waiting_.size(), 1);
  waiting_.pop_front();
  const auto end = free_.begin() + static_cast<std::ptrdiff_t>(std::min(fair, most));
  share.devices.assign(free_.begin(), end);
  free_.erase(free_.begin(), end);
  return share;
}

void ProblemSpread::done(const Share& share, const std::vector<std::size_t>& lost) {
  for (const std::size_t device : share.devices) {
    const bool is_lost = std::find(lost.begin(), lost.end(), device) != lost.end();
    is_lost ? void(--devices_) : free_.push_back(device);
  }
  std::sort(free_.begin(), free_.end());
}

bool ProblemSpread::lost(const Share& share) {
  done(share, share.devices);
  if (went_back_[share.problem]) return false;
  went_back_[share.problem] = true;
  waiting_.push_front(share.problem);
  return true;
}

std::size_t ProblemSpread::part(const Share& share, std::size_t all) const {
  return std::max<std::size_t>(all * share.devices.size() / std::max(devices_, share.devices.size()), 1);
}

}  // namespace tuner::cli
