#include <tuner/runtime/decide/serving.hpp>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <cache/file/paths.hpp>

#include <tuner/backend/gpu.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/result/effort.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/error.hpp>
#include <tuner/runtime/background/housekeeping.hpp>
#include <tuner/session/tuning/device_choice.hpp>

namespace tuner::runtime {
namespace {

/// A call waits no longer for another process that has locked the user's database. Storing results may take longer.
constexpr std::chrono::milliseconds kPatience{500};

/// Threads that may hold a lock before a device is decided, and one more once it is. A child that is forked meanwhile
/// is refused.
std::atomic<int> users{0};

struct User {
  User() {
    Serving::watch_forks();  // a static constructor may call before watches_forks_ is initialised
    ++users;
  }
  ~User() {
    if (!stays) --users;
  }
  bool stays = false;
};

/// Keeps the shared object that contains this code in memory though a program closes it: threads run in it until the
/// process ends. Does nothing if that is the program itself.
void stay_loaded() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<const void*>(&stay_loaded), &about) != 0 && about.dli_fname != nullptr)
    (void)::dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

void set(Settings& settings, std::string_view name, const std::string& said, const std::string& value) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, said + "='" + value + '\'' + why);
  };
  const auto is_first = [&](const std::string& first, const std::string& second) {
    if (value != first && value != second)
      refuse(": it is " + std::string(name == "tune" ? "'auto', " : "") + '\'' + first + "' or '" + second + '\'');
    return value == first;
  };
  if (name == "tune") {
    settings.tune = value == "auto"                     ? TuneOnMiss::automatic
                    : is_first("never", "on_first_use") ? TuneOnMiss::never
                                                        : TuneOnMiss::on_first_use;
  } else if (name == "tuning_time") {
    double seconds = 0;  // `2`, `0.5s`; strtod would read it by the program's locale
    const char* const end = value.data() + value.size();
    const auto [rest, failed] = std::from_chars(value.data(), end, seconds);
    if (failed != std::errc() || std::string_view(rest, end) != (rest == end ? "" : "s") || !(seconds > 0) ||
        !std::isfinite(seconds))
      refuse(" is not a positive number of seconds");
    settings.tuning_time = std::chrono::duration<double>(seconds);
  } else if (name == "effort") {
    const std::optional<Effort> effort = effort_named(value);
    if (!effort) refuse(": it is one of " + listed(names_of(kEfforts), ", "));
    settings.effort = *effort;
  } else if (name == "device") {
    settings.device = value;
  } else if (name == "database") {
    settings.database = value;
  } else if (name == "remember_misses") {
    settings.remember_misses = said == name ? is_first("true", "false") : is_first("remember", "never");
  } else {
    throw Error(ErrorCode::invalid_argument,
                "tuner: there is no setting '" + said +
                    "': there are tune, tuning_time, effort, device, database and remember_misses");
  }
}

std::future<void> in_a_thread(std::function<void()> work) try {
  const WithoutSignals calm;
  return std::async(std::launch::async, std::move(work));
} catch (const std::system_error&) {
  return {};
}

bool Serving::watch_forks() {
  static const int failed = ::pthread_atfork(nullptr, nullptr, [] {
    if (users > 0) process().ordinal_ = kForked;
  });
  return failed == 0;
}

// Registered before main(), as a fork() may come while the first call begins.
const bool Serving::watches_forks_ = watch_forks();

void Serving::refuse_forked() const {
  if (ordinal_ != kForked) return;
  throw Error(ErrorCode::context_lost,
              "this process was forked from one that had launched kernels through tuner, and neither CUDA nor tuner's "
              "threads survive fork(): start it with exec, or fork before the first launch");
}

void Serving::configure(Settings settings) {
  if (ordinal_ == kForked) return;
  const User user;
  const std::lock_guard lock(mutex_);
  configured_ = std::move(settings);
}

void Serving::change(const std::function<void(Settings&)>& change) {
  if (ordinal_ == kForked) return;
  const User user;
  const std::lock_guard lock(mutex_);
  Settings changed = configured_;
  change(changed);
  configured_ = std::move(changed);
}

Settings Serving::settings() {
  Settings result;
  {
    const std::lock_guard lock(mutex_);
    result = configured_;
  }
  for (const auto& [name, variable] : {std::pair{"tune", "TUNER_TUNE"},
                                       {"tuning_time", "TUNER_TUNE_TIME"},
                                       {"effort", "TUNER_EFFORT"},
                                       {"device", "TUNER_DEVICE"},
                                       {"remember_misses", "TUNER_MISSES"}})
    if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
      set(result, name, variable, value);
  const double time = result.tuning_time.count();
  if (result.tune == TuneOnMiss::never ? !(time >= 0) : !(time > 0))
    throw Error(ErrorCode::invalid_argument,
                "Settings::tuning_time is " + std::to_string(time) + ", not a positive number of seconds");
  if (ending_ || result.effort == Effort::none) result.tune = TuneOnMiss::never;
  return result;
}

int Serving::decide_ordinal() {
  refuse_forked();
  User user;
  const std::string wanted = settings().device;
  const std::optional<int> number = gpu_ordinal(wanted);
  int ordinal = number.value_or(0);
  if (!number && wanted != "auto" && wanted != "cuda" && wanted != "host")
    throw Error(ErrorCode::invalid_argument, "device '" + wanted + "': it is auto, host, cuda or the number of a GPU");
  if (wanted == "host" || !gpu_available()) {
    if (wanted != "auto" && wanted != "host") throw Error(ErrorCode::not_found, "no GPU to serve on: " + why_no_gpu());
    ordinal = CallContext::kOnHost;
  }
  user.stays = true;
  ordinal_ = ordinal;
  return ordinal;
}

void Serving::open_wisdom(const Settings& settings) {
  wisdom_once_.run([&] {
    stay_loaded();
    WisdomOptions options;
    // Absolute, as the program may change its folder.
    if (!cache::frozen_database_file() && !settings.database.empty())
      options.database = std::filesystem::absolute(settings.database);
    options.warn = [this](std::string_view message) { warn(message); };
    options.check = false;  // a first call takes milliseconds, and damage is found when it is met
    options.patience = kPatience;
    wisdom_ = std::make_unique<Wisdom>(options);
    // Before any plan is made, so that it sees what is stored later.
    if (!wisdom_->frozen()) Housekeeping::process().begin(*wisdom_);
    // Tuning uses objects that are destroyed at exit, so it stops then. Serving uses none of them.
    std::atexit([] {
      process().ending_ = true;
      Housekeeping::process().end();
    });
  });
}

std::future<void> Serving::open_meanwhile() {
  const int gpu = ordinal();             // throws in a forked process
  (void)cache::installation_prefixes();  // needs the loader's lock, which a static constructor holds
  return in_a_thread([this, gpu] {
    open_wisdom(settings());
    if (gpu != CallContext::kOnHost)
      (void)wisdom_->databases(find_device(kCudaBackend, gpu, /*compiler=*/false).key.text());
  });
}

Serving::Terms Serving::terms() {
  Settings now = settings();
  open_wisdom(now);
  if (wisdom_->frozen()) {
    now.tune = TuneOnMiss::never;
    now.remember_misses = false;
  } else {
    Housekeeping::process().begin(*wisdom_);  // unless it has begun
  }
  return {*this, std::move(now), *wisdom_};
}

void Serving::warn(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (std::find(warned_.begin(), warned_.end(), message) == warned_.end()) warned_.emplace_back(message);
  waiting_ = delivered_ < warned_.size();
}

void Serving::deliver_warnings() noexcept {
  try {
    for (;;) {
      std::string message;
      std::function<void(std::string_view)> sink;
      {
        const std::lock_guard lock(mutex_);
        if (delivered_ == warned_.size()) return;
        message = warned_[delivered_++];
        waiting_ = delivered_ < warned_.size();
        sink = configured_.on_warning;
      }
      if (sink) {
        sink(message);
      } else {
        std::fprintf(stderr, "tuner: warning: %s\n", message.c_str());
      }
    }
  } catch (...) {  // a listener's exception is ignored: calls must not fail because of a warning
  }
}

}  // namespace tuner::runtime
