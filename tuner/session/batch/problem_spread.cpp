#include <tuner/session/batch/problem_spread.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kMostBlamed = 3;  // problems in a row; then the devices are the cause

}  // namespace

ProblemSpread::ProblemSpread(std::vector<std::size_t> most_devices, std::size_t devices)
    : most_devices_(std::move(most_devices)),
      devices_(devices),
      free_(devices),
      waiting_(most_devices_.size()),
      went_back_(most_devices_.size()),
      taken_(most_devices_.size()) {
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
  blamed_in_a_row_ = 0;
  give_back(share, lost);
}

void ProblemSpread::give_back(const Share& share, const std::vector<std::size_t>& lost) {
  for (const std::size_t device : share.devices) {
    const bool is_lost = std::find(lost.begin(), lost.end(), device) != lost.end();
    is_lost ? void(--devices_) : free_.push_back(device);
  }
  std::sort(free_.begin(), free_.end());
}

bool ProblemSpread::lost(const Share& share) {
  std::vector<std::size_t>& taken = taken_[share.problem];
  if (!went_back_[share.problem]) {
    went_back_[share.problem] = true;
    if (share.devices.size() < devices_) taken = share.devices;
    give_back(share, taken);
    waiting_.push_front(share.problem);
    return true;
  }
  const bool others_run = free_.size() + share.devices.size() < devices_;
  if (++blamed_in_a_row_ >= kMostBlamed && !others_run) {
    give_back(share, share.devices);
    return false;
  }
  devices_ += taken.size();
  free_.insert(free_.end(), taken.begin(), taken.end());
  taken.clear();
  give_back(share, {});
  return false;
}

std::size_t ProblemSpread::part(const Share& share, std::size_t all) const {
  return std::max<std::size_t>(all * share.devices.size() / std::max(devices_, share.devices.size()), 1);
}

}  // namespace tuner
