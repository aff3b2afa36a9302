#include <tuner/session/batch/tune_request.hpp>

namespace tuner {

Spread spread_of(const TuneRequest& request) {
  if (request.jobs.size() > 1 && !request.devices.more.empty() && !request.one_at_a_time) return Spread::side_by_side;
  return request.is_one_kernel ? Spread::together : Spread::in_turn;
}

}  // namespace tuner
