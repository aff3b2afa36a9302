#pragma once
/// Options for the compiler of kernels, spelled as NVRTC spells them: `#pragma tuner compile -use_fast_math`.

#include <string>
#include <string_view>

#include <tuner/error.hpp>

namespace tuner {

/// An option with its values filled in.
struct CompileOption {
  std::string text;       ///< `--maxrregcount=32`
  SourceLocation origin;  ///< its place in a kernel file, for messages only; not compared

  friend bool operator==(const CompileOption& a, const CompileOption& b) { return a.text == b.text; }
};

/// `maxrregcount` of `--maxrregcount=32`. NVRTC treats one dash and two dashes alike.
std::string_view option_name(std::string_view text);

/// Why a kernel file may not use option \p text (up to its first value), and what to do instead. The text continues the
/// option's name: "is set by tuner: …". Empty if the option is allowed.
std::string why_refused(std::string_view text);

/// Whether option \p text also applies to the reference. Options for speed, exactness or debugging do not.
bool belongs_to_reference(std::string_view text);

/// `c++20` of `--std=c++20`; empty for other options.
std::string_view language_in(std::string_view text);

/// Whether option \p text turns optimisation off: `-G`.
bool is_device_debug(std::string_view text);

}  // namespace tuner
