#pragma once
/// The files that a page is made of, as text inside the program. Generated at build time. Private to this room.

#include <span>
#include <string_view>

namespace tuner::report {

struct PageFile {
  std::string_view name;  ///< "page.css"
  std::string_view text;
};

/// In the order that scripts need. The text lives as long as the program.
std::span<const PageFile> page_files();

}  // namespace tuner::report
