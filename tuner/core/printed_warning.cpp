#include <tuner/core/printed_warning.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>

namespace tuner {
namespace {

// Never destroyed: kernels may be compiled while the process ends.
std::mutex& printing = *new std::mutex;
std::set<std::string, std::less<>>& printed = *new std::set<std::string, std::less<>>;

}  // namespace

void print_warning_once(const std::string& text) {
  const std::lock_guard lock(printing);
  if (printed.insert(text).second) std::fputs(("tuner: warning: " + text + "\n").c_str(), stderr);
}

bool is_printed_warning(std::string_view text) {
  const std::lock_guard lock(printing);
  return printed.contains(text);
}

}  // namespace tuner
