// Where small buffers lie in the device's memory.
#include <algorithm>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/measure/problem_buffers.hpp>

namespace tuner {
namespace {

/// Larger ones have so many pages that their places average out.
constexpr std::size_t kMostBytes = std::size_t{256} << 10;
/// The places of which two are chosen.
constexpr std::size_t kPlacesToTry = 12;

bool can_move(const ProblemBuffer& buffer) {
  return !buffer.spec->is_work_space() && buffer.spec->role != BufferRole::constant && buffer.arrays.empty() &&
         buffer.actual.bytes() > 0;
}

}  // namespace

void ProblemBuffers::find_places() {
  if (std::exchange(has_looked_for_places_, true)) return;
  std::size_t all = 0;
  for (const ProblemBuffer& buffer : buffers_)
    if (!buffer.spec->is_work_space()) all += buffer.actual.bytes();
  if (all > kMostBytes) return;
  try {
    for (ProblemBuffer& buffer : buffers_)
      if (can_move(buffer)) has_two_places_ |= choose_places(buffer);
  } catch (const Error&) {
    if (!backend_.usable()) throw;
    give_up_places();  // there is no room
  }
  restore_inputs();
}

/// Returns false if all places are alike.
bool ProblemBuffers::choose_places(ProblemBuffer& buffer) {
  if (!backend_.load_cycles(buffer.actual.data(), buffer.actual.bytes())) return false;
  std::vector<std::pair<double, GuardedMemory>> places;
  while (places.size() < kPlacesToTry) {
    GuardedMemory place = allocate(buffer);
    const double cycles = backend_.load_cycles(place.data(), place.bytes()).value();
    places.emplace_back(cycles, std::move(place));
  }
  std::ranges::sort(places, {}, [](const auto& place) { return place.first; });
  buffer.elsewhere = std::move(places[kPlacesToTry * 3 / 4].second);
  buffer.actual = std::move(places[kPlacesToTry / 4].second);
  return true;
}

void ProblemBuffers::give_up_places() {
  use_place(0);
  for (ProblemBuffer& buffer : buffers_) buffer.elsewhere = {};
  has_two_places_ = false;
}

void ProblemBuffers::use_place(std::size_t which) {
  if (place_ == which) return;
  place_ = which;
  for (ProblemBuffer& buffer : buffers_)
    if (buffer.elsewhere.is_made()) std::swap(buffer.actual, buffer.elsewhere);
}

}  // namespace tuner
