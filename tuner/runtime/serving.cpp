#include <tuner/runtime/serving.hpp>

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tuner/core/error.hpp>
#include <tuner/backend/gpu.hpp>
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

// What Serving::choose() answers besides the ordinal of a GPU.
constexpr int kUndecided = -2, kHost = -1;

}  // namespace

Serving::Serving() : choice_(kUndecided) {
  // A child has this memory, but neither the threads nor the driver's connections behind it.
  ::pthread_atfork(nullptr, nullptr, [] {
    Serving& serving = process();
    if (serving.devices_.front().load() != nullptr) serving.forked_ = true;
  });
  // What tuning needs is destroyed then; what serving needs is not.
  std::atexit([] { process().ending_ = true; });
}

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
  if (ending_) result.tune = TuneOnMiss::never;
  return result;
}

/// Decided once: where calls go whose thread has no current context.
int Serving::choose() {
  const std::string wanted = settings().device;
  int ordinal = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto [parsed, error] = std::from_chars(wanted.data(), end, ordinal);
  const bool number = error == std::errc{} && parsed == end && ordinal >= 0;
  if (!number && wanted != "auto" && wanted != "cuda" && wanted != "host")
    throw Error("device '" + wanted + "': it is auto, host, cuda or the number of a GPU");
  if (wanted == "host") return kHost;
  if (gpu_available()) return number ? ordinal : 0;
  if (wanted != "auto") throw Error("no GPU to serve on: " + why_no_gpu());
  return kHost;
}

ContextName Serving::context_for(const void* pointer) {
  if (forked_.load(std::memory_order_relaxed)) {
    throw Error(
        "this process was forked from one that had launched kernels through tuner, and neither CUDA nor tuner's "
        "threads "
        "survive fork(): start it with exec, or fork before the first launch");
  }
  int choice = choice_.load(std::memory_order_relaxed);
  if (choice == kUndecided) choice_.store(choice = choose(), std::memory_order_relaxed);
  if (choice == kHost) return kHostContext;
  if (const ContextName current = current_gpu_context(); current.id != 0) return current;
  if (const ContextName owner = gpu_context_of(pointer); owner.id != 0) return owner;
  return primary_gpu_context(choice);
}

ServedDevice* Serving::find(const ContextName& context) const {
  for (const auto& slot : devices_) {
    ServedDevice* const known = slot.load(std::memory_order_acquire);
    if (known == nullptr || known->context().id == context.id) return known;
  }
  return nullptr;
}

ServedDevice& Serving::device(const ContextName& context) {
  if (ServedDevice* known = find(context)) return *known;
  const BesideCaptures allowed(context);
  const std::lock_guard lock(opening_);
  if (ServedDevice* known = find(context)) return *known;
  // A handle that has come back was another context's before, which is gone.
  const auto free = std::find_if(devices_.begin(), devices_.end(), [&](const auto& slot) {
    const ServedDevice* const known = slot.load();
    return known == nullptr || known->context().handle == context.handle;
  });
  if (free == devices_.end())
    throw Error("more than " + std::to_string(kMaxDevices) + " device contexts in one process");
  std::unique_ptr<Backend> backend =
      is_host(context) ? open_backend(choose_device("host").device) : open_gpu_context(context);
  auto* const opened = new ServedDevice(context, std::move(backend));
  if (ServedDevice* const before = free->exchange(opened)) {
    before->backend().abandon();
    gone_.push_back(before);  // plans made for it point there
  }
  return *opened;
}

Wisdom& Serving::wisdom() {
  std::call_once(wisdom_once_, [&] {
    WisdomOptions options;
    options.database = settings().database;
    options.warn = [this](std::string_view message) { warn(message); };
    wisdom_ = std::make_unique<Wisdom>(options);
  });
  return *wisdom_;
}

void Serving::warn(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (std::find(warned_.begin(), warned_.end(), message) == warned_.end()) warned_.emplace_back(message);
}

void Serving::deliver_warnings() noexcept {
  try {
    for (;;) {
      std::string message;
      std::function<void(std::string_view)> sink;
      {
        const std::lock_guard lock(mutex_);
        if (told_ == warned_.size()) return;
        message = warned_[told_++];
        sink = settings_.on_warning;
      }
      if (sink) {
        sink(message);
      } else {
        std::fprintf(stderr, "tuner: warning: %s\n", message.c_str());
      }
    }
  } catch (...) {  // what a warning does to its listener is no reason to fail
  }
}

}  // namespace runtime
}  // namespace tuner
