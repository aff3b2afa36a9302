#pragma once
/// Judges configurations before any of them runs, from the kernel file and the device alone: by the file's `estimate`,
/// or else by a LaunchModel.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tuner/core/space/search_space.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/search/strategy.hpp>
#include <tuner/session/tuning/launch_model.hpp>

namespace tuner {

class ExpectedTimes {
 public:
  /// All must outlive this.
  ExpectedTimes(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                const EnumeratedSpace& space);

  /// A number that grows with the time of configuration \p index; nullopt if it has none. The model's is a little
  /// larger for each parameter that differs from the default. \p compiled: what the compiler reports, if it is known.
  std::optional<double> of(search::Index index, const Resources* compiled = nullptr);
  /// The numbers of all configurations, for Strategy::seed_prior(). Where they are equal, configurations that differ
  /// least from the default come first. Of a space with more than 16,384 configurations it judges as many that are
  /// drawn with \p seed, and those that differ from the default in one parameter. From an open space it draws for a
  /// tenth of a second at most. All are positive: if the least is not, a constant is added to each. Empty if all are
  /// equal (within 5%, for the model), if none has a number, and after \p stop.
  std::vector<search::Observation> all(std::uint64_t seed, const StopHook& stop = {});

 private:
  struct Judged {
    double time = 0;
    std::size_t distance = 0;  // from the default, in parameters
  };
  std::optional<Judged> judge(search::Index index, const Resources* compiled);
  double told(const Judged& judged) const;
  std::vector<search::Index> judged_part(std::uint64_t seed, const StopHook& stop) const;

  const KernelSpec& spec_;
  const EnumeratedSpace& space_;
  LaunchModel model_;
  std::vector<std::optional<std::uint16_t>> default_;  // its digits; nullopt: the space does not have the value
  Bindings values_;
  std::vector<std::uint16_t> digits_;
};

}  // namespace tuner
