#pragma once
/// Warnings that have no other way to the user than standard error.

#include <string>
#include <string_view>

namespace tuner {

/// Prints \p text as a warning to standard error, unless this process has printed it before. Thread-safe.
void print_warning_once(const std::string& text);
/// Whether print_warning_once() has printed \p text: a worker that reports the same says nothing new. Thread-safe.
bool is_printed_warning(std::string_view text);

}  // namespace tuner
