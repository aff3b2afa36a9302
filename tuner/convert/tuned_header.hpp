#pragma once
/// The best configurations of a kernel as a C++17 header that needs nothing: for programs without tuner.

#include <optional>
#include <string>

#include <tuner/convert/tuned_results.hpp>

namespace tuner::convert {

struct HeaderOptions {
  /// For devices that are like none of the measured ones; nothing: the configuration that is best most often.
  std::optional<Configuration> default_configuration = {};
  std::string remark = {};  ///< lines for the comment at its head, such as what the caller has to see to; may be empty
};

/// What every such header begins with.
inline constexpr const char* kHeaderMark = "// Tuned configurations of kernel ";

/// The header: a `struct Configuration` with a member for each parameter, the measured rows as constexpr data, and
/// `dispatch`, which chooses by device and size and hands over the choice as a type. Equal results give equal text.
/// Throws tuner::Error when the rows do not all assign the same parameters or have the same sizes, and where an integer
/// is none of C++'s.
std::string header_text(const TunedResults& results, const HeaderOptions& options = {});

}  // namespace tuner::convert
