#include <tuner/runtime/serving.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tuner/core/error.hpp>
#include <tuner/runtime/gpu.hpp>
#include <tuner/session/backends.hpp>

namespace tuner {

void configure(Settings settings) { runtime::Serving::process().configure(std::move(settings)); }

namespace runtime {
namespace {

const char* environment(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? value : nullptr;
}

double positive_seconds(const char* name, const char* text) {
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end == 's') ++end;
  if (end == text || *end != '\0' || !(seconds > 0)) {
    throw Error(std::string(name) + "='" + text + "' is not a positive number of seconds");
  }
  return seconds;
}

}  // namespace

Serving& Serving::process() {
  // Never destroyed: threads may still launch while the process ends, and drivers may be gone by then.
  static Serving* const serving = new Serving;
  return *serving;
}

void Serving::configure(Settings settings) {
  const std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
}

Settings Serving::settings() const {
  Settings result;
  {
    const std::lock_guard lock(mutex_);
    result = settings_;
  }
  if (const char* tune = environment("TUNER_TUNE")) {
    const std::string_view policy = tune;
    if (policy != "never" && policy != "on_first_use") {
      throw Error("TUNER_TUNE='" + std::string(policy) + "': it is 'never' or 'on_first_use'");
    }
    result.tune = policy == "never" ? TuneOnMiss::never : TuneOnMiss::on_first_use;
  }
  if (const char* time = environment("TUNER_TUNE_TIME")) {
    result.tuning_time = std::chrono::duration<double>(positive_seconds("TUNER_TUNE_TIME", time));
  }
  if (const char* device = environment("TUNER_DEVICE")) result.device = device;
  return result;
}

bool Serving::serves_gpu() {
  int decided = gpu_.load(std::memory_order_relaxed);
  if (decided < 0) {
    const std::string wanted = settings().device;
    if (wanted != "auto" && wanted != "cuda" && wanted != "host") {
      throw Error("device '" + wanted + "': the library takes 'auto', 'cuda' or 'host'");
    }
    if (wanted == "cuda" && !gpu_available()) throw Error("no GPU to serve on: " + why_no_gpu());
    decided = wanted != "host" && gpu_available() ? 1 : 0;
    gpu_.store(decided, std::memory_order_relaxed);
  }
  return decided == 1;
}

std::uint64_t Serving::context_for(const void* pointer) {
  if (!serves_gpu()) return kHostContext;
  if (const std::uint64_t current = current_gpu_context()) return current;
  if (const std::uint64_t owner = gpu_context_of(pointer)) return owner;
  return default_gpu_context();
}

ServedDevice& Serving::device(std::uint64_t context) {
  const auto find = [&]() -> ServedDevice* {
    for (const auto& slot : devices_) {
      ServedDevice* const known = slot.load(std::memory_order_acquire);
      if (known == nullptr || known->context() == context) return known;
    }
    return nullptr;
  };
  if (ServedDevice* known = find()) return *known;
  const std::lock_guard lock(opening_);
  if (ServedDevice* known = find()) return *known;
  const auto free = std::find(devices_.begin(), devices_.end(), nullptr);
  if (free == devices_.end())
    throw Error("more than " + std::to_string(kMaxDevices) + " device contexts in one process");
  std::unique_ptr<Backend> backend =
      context == kHostContext ? open_backend(choose_device("host").device) : open_gpu_context(context);
  free->store(new ServedDevice(context, std::move(backend)), std::memory_order_release);
  return *free->load();
}

Wisdom& Serving::wisdom() {
  if (!wisdom_) {
    WisdomOptions options;
    options.database = settings().database;
    options.warn = [this](std::string_view message) { warn(message); };
    wisdom_ = std::make_unique<Wisdom>(options);
  }
  return *wisdom_;
}

void Serving::warn(std::string_view message) {
  std::function<void(std::string_view)> sink;
  {
    const std::lock_guard lock(mutex_);
    if (std::find(warned_.begin(), warned_.end(), message) != warned_.end()) return;
    warned_.emplace_back(message);
    sink = settings_.on_warning;
  }
  if (sink) {
    sink(message);
  } else {
    std::fprintf(stderr, "tuner: warning: %.*s\n", static_cast<int>(message.size()), message.data());
  }
}

}  // namespace runtime
}  // namespace tuner
