#include <tuner/core/values/printed_warning.hpp>

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>

namespace tuner {
namespace {

struct Printed {
  std::mutex mutex;
  std::set<std::string, std::less<>> texts;

  static Printed& process() {
    static Printed& printed = *new Printed;  // never destroyed: kernels may be compiled while the process ends
    return printed;
  }
};

}  // namespace

void print_warning_once(const std::string& text) {
  Printed& printed = Printed::process();
  const std::lock_guard lock(printed.mutex);
  if (printed.texts.insert(text).second) std::fputs(("tuner: warning: " + text + "\n").c_str(), stderr);
}

bool is_printed_warning(std::string_view text) {
  Printed& printed = Printed::process();
  const std::lock_guard lock(printed.mutex);
  return printed.texts.contains(text);
}

}  // namespace tuner
