#pragma once
/// Options for the compiler of kernels, in the words of NVRTC: `#pragma tuner compile -use_fast_math`.

#include <string>
#include <string_view>

#include <tuner/core/error.hpp>

namespace tuner {

/// An option with every value in it.
struct CompileOption {
  std::string text;       ///< `--maxrregcount=32`
  SourceLocation origin;  ///< where a kernel file says so, for messages; decides nothing

  friend bool operator==(const CompileOption& a, const CompileOption& b) { return a.text == b.text; }
};

/// Of `--maxrregcount=32`: `maxrregcount`. One or two dashes are the same to NVRTC.
std::string_view option_name(std::string_view text);

/// Why a kernel file may not give option \p text (up to its first value), and what to do instead, as what follows its
/// name: "is set by tuner: …". Empty where it may.
std::string why_refused(std::string_view text);

/// Whether a reference is compiled with option \p text too: not where it is about speed, exactness or debugging.
bool belongs_to_reference(std::string_view text);

/// Whether option \p text asks for code that is not optimised: `-G`.
bool is_device_debug(std::string_view text);

}  // namespace tuner
