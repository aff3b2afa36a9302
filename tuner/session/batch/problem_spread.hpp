#pragma once
/// Assigns the problems of a list to the devices of one kind, so that all devices stay busy. While many problems wait,
/// each gets one device; when fewer are left, each gets several. Only decides: no threads, no output.

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace tuner {

class ProblemSpread {
 public:
  /// A problem and the devices that it is tuned on until done() or lost().
  struct Share {
    std::size_t problem = 0;           ///< position in the list
    std::vector<std::size_t> devices;  ///< numbers from 0, ascending; at least one
  };

  /// \p most_devices: for each problem how many devices it can use at most, at least one.
  ProblemSpread(std::vector<std::size_t> most_devices, std::size_t devices);

  /// The next problem to begin, in the order of the list. Nothing while no device is free or no problem waits.
  std::optional<Share> next();
  /// \p share has ended, and its problem is not tuned again. Devices in \p lost are not used again.
  void done(const Share& share, const std::vector<std::size_t>& lost = {});
  /// All devices of \p share were lost before its problem was done. The first time, the problem goes back to the list
  /// for one device, and the devices are not used again unless no other is left. The second time, the problem is the
  /// cause, and all its devices are used again. If three problems in a row are the cause, and nothing else runs, then
  /// the devices are the cause. Returns whether the problem went back to the list.
  bool lost(const Share& share);

  /// The number of devices that are not lost.
  std::size_t devices() const { return devices_; }
  /// The part of \p all (cores) for \p share, if every device gets the same number; at least one.
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

}  // namespace tuner
