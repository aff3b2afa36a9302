#pragma once
/// Which problem of a list is tuned on which devices of one kind, so that all stay busy: several problems at once, each
/// with one device while enough of them wait, with several when fewer are left. Decides only: no thread, no output.

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace tuner::cli {

class ProblemSpread {
 public:
  /// A problem and the devices that it is tuned on until done() or lost().
  struct Share {
    std::size_t problem = 0;           ///< position in the list
    std::vector<std::size_t> devices;  ///< numbers from 0, ascending; at least one
  };

  /// \p most_devices: for each problem how many devices it can use at most, at least one.
  ProblemSpread(std::vector<std::size_t> most_devices, std::size_t devices);

  /// What begins now, in the order of the list; nothing while no device is free or no problem waits.
  std::optional<Share> next();
  /// \p share has ended, its problem as well as it can be. Devices in \p lost are not used again.
  void done(const Share& share, const std::vector<std::size_t>& lost = {});
  /// All devices of \p share were lost, and its problem was not done: it goes back to the list, once, for one device.
  /// Whether it did. The devices are not used again, unless no other is left. A problem that loses devices twice is to
  /// blame, and all of them are used again; but where nothing else succeeds between three such, and nothing else runs,
  /// the devices are.
  bool lost(const Share& share);

  /// How many are not lost.
  std::size_t devices() const { return devices_; }
  /// Problems that did not begin, or went back to the list.
  std::size_t waiting() const { return waiting_.size(); }
  /// How many of \p all (cores, at least one) \p share has for itself while each other device has as many as each of
  /// its own.
  std::size_t part(const Share& share, std::size_t all) const;

 private:
  void give_back(const Share& share, const std::vector<std::size_t>& lost);

  std::vector<std::size_t> most_devices_;
  std::size_t devices_;                          // not lost
  std::vector<std::size_t> free_;                // of them, ascending
  std::deque<std::size_t> waiting_;              // problems
  std::vector<bool> went_back_;                  // for each problem
  std::vector<std::vector<std::size_t>> taken_;  // from each problem, and not used again
  std::size_t blamed_in_a_row_ = 0;              // problems
};

}  // namespace tuner::cli
