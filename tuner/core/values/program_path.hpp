#pragma once
/// Where programs are.

#include <filesystem>
#include <string>

namespace tuner {

/// The path of \p program, which is looked up on $PATH unless it has a slash. Empty when it cannot be executed.
std::filesystem::path find_program(const std::string& program);

}  // namespace tuner
