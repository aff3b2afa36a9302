#pragma once
/// Writes the best configurations of a kernel as a C++17 header without dependencies, for programs without tuner.

#include <optional>
#include <string>

#include <tuner/convert/tuned_results.hpp>

namespace tuner::convert {

struct HeaderOptions {
  /// For devices that resemble no measured one; nullopt: the configuration that is best most often.
  std::optional<Configuration> default_configuration = {};
  std::string remark = {};  ///< lines for the comment at the top, such as duties of the caller; may be empty
};

/// The beginning of each such header.
inline constexpr const char* kHeaderMark = "// Tuned configurations of kernel ";

/// The header has a `struct Configuration` with a member for each parameter, and the measured rows as constexpr data.
/// Its `dispatch` chooses by device and size, and passes the choice as a type. A rule of sizes tuned together becomes a
/// constexpr function from sizes to a configuration. Equal results give equal text. Throws tuner::Error when there are
/// no rows, and when rows differ in their parameters or sizes.
std::string header_text(const TunedResults& results, const HeaderOptions& options = {});

}  // namespace tuner::convert
