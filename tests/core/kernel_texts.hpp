#pragma once
/// A kernel file that several tests of this folder modify.

#include <sstream>

#include <tuner/core/kernel_file/kernel_file.hpp>

#include <tests/support/testing.hpp>

namespace tuner::testing {

/// A valid kernel file, with one directive on each line.
inline const char* const kVectorAdd =
    "#pragma tuner kernel      add\n"                                       // 1
    "#pragma tuner type        T = float double int\n"                      // 2
    "#pragma tuner size        n : int64 = 1000\n"                          // 3
    "#pragma tuner parameter   block = 32 64 128 2048\n"                    // 4
    "#pragma tuner parameter   items = 1 2 4\n"                             // 5
    "#pragma tuner parameter   load = plain streaming\n"                    // 6
    "#pragma tuner let         tile = block * items\n"                      // 7
    "#pragma tuner constraint  streams: load != streaming or items == 4\n"  // 8
    "#pragma tuner in          a[n], b[n]\n"                                // 9
    "#pragma tuner out         c[n]\n"                                      // 10
    "#pragma tuner scalar      alpha : T = 2.5\n"                           // 11
    "#pragma tuner grid        max(1, ceil_div(n, tile))\n"                 // 12
    "#pragma tuner block       block\n"                                     // 13
    "#pragma tuner arguments   a, b, c, alpha, n\n"                         // 14
    "#pragma tuner instantiate add<T, block, items, Load::load>\n"          // 15
    "#pragma tuner reference   addReference<T>\n"                           // 16
    "#pragma tuner verify      n=33 offset=1\n"                             // 17
    "#pragma tuner bytes       3 * n * sizeof(T)\n"                         // 18
    "#pragma tuner default     block=64 items=1 load=plain\n";              // 19

/// kVectorAdd with line \p number replaced; 0 adds \p line at the end.
inline std::string with_line(int number, const std::string& line) {
  std::string result;
  const std::string text = kVectorAdd;
  int current = 1;
  for (std::size_t begin = 0; begin < text.size(); ++current) {
    const std::size_t end = text.find('\n', begin) + 1;
    result += current == number ? line + (line.empty() ? "" : "\n") : text.substr(begin, end - begin);
    begin = end;
  }
  return number == 0 ? result + line + "\n" : result;
}

/// with_line() for directives: `#pragma tuner ` is added before each line of \p directives.
inline std::string edited(int number, const std::string& directives) {
  std::string text;
  std::istringstream lines(directives);
  for (std::string line; std::getline(lines, line);) text += (text.empty() ? "" : "\n") + ("#pragma tuner " + line);
  return with_line(number, text);
}

/// A configuration of kVectorAdd.
inline Configuration configuration(int block, int items = 1, const char* load = "plain") {
  return {{"block", block}, {"items", items}, {"load", load}};
}

inline KernelSpec parse(const std::string& text) { return parse_kernel_file(text, "k.cu"); }

}  // namespace tuner::testing

namespace tuner {
using testing::configuration;
using testing::edited;
using testing::kVectorAdd;
using testing::parse;
using testing::with_line;
}  // namespace tuner
