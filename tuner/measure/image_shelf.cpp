#include <tuner/measure/image_shelf.hpp>

#include <algorithm>
#include <utility>

namespace tuner {

void ImageShelf::offer(const Trial& trial, std::shared_ptr<const Image> image) {
  const Measurement* measurement = trial.measurement();
  if (measurement == nullptr || image == nullptr) return;
  entries_[trial.configuration] = {measurement->median_ns, std::move(image)};
  if (entries_.size() <= capacity_) return;
  entries_.erase(std::max_element(entries_.begin(), entries_.end(),
                                  [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; }));
}

std::shared_ptr<const Image> ImageShelf::find(const Configuration& configuration) const {
  const auto at = entries_.find(configuration);
  return at == entries_.end() ? nullptr : at->second.image;
}

}  // namespace tuner
