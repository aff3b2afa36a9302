#pragma once
/// The headers of shim/, embedded at build time, so that one program file is enough.

#include <span>
#include <string_view>

namespace tuner::host {

struct ShimFile {
  std::string_view name;  ///< relative to the include path
  std::string_view text;
};
std::span<const ShimFile> shim_files();

}  // namespace tuner::host
