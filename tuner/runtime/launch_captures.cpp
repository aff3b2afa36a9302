#include <tuner/runtime/launch_captures.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include <tuner/core/error.hpp>
#include <tuner/measure/captured_data.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/session/records.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::runtime {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& capture_patterns() {
  static const std::vector<std::string> patterns = [] {
    std::vector<std::string> all;
    const char* const value = std::getenv("TUNER_CAPTURE");
    std::istringstream list(value != nullptr ? value : "");
    for (std::string pattern; std::getline(list, pattern, ',');)
      if (!pattern.empty()) all.push_back(pattern);
    return all;
  }();
  return patterns;
}

fs::path capture_folder() {
  const char* const folder = std::getenv("TUNER_CAPTURE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : ".";
}

std::string argument_text(const detail::LaunchArgument& argument) {
  using Kind = detail::LaunchArgument::Kind;
  if (argument.kind == Kind::floating) return number_text(argument.number);
  if (argument.kind == Kind::unsigned_integer) return number_text(argument.integer);
  return number_text(static_cast<std::int64_t>(argument.integer));
}

}  // namespace

void LaunchCaptures::only_warn(const KernelSpec& spec, const std::function<void()>& act) noexcept {
  try {
    const Serving::Terms terms = Serving::process().terms();  // its destructor delivers the warning
    try {
      act();
    } catch (const std::exception& error) {
      terms.serving.warn("kernel '" + spec.name + "' was not captured: " + error.what());
    }
  } catch (...) {  // the launch matters more
  }
}

CapturedLaunch::CapturedLaunch(Backend& backend, const KernelSpec& spec, const BoundCall& bound, const Call& call,
                               const Configuration* configuration, const std::string& kernel_hash)
    : backend_(backend),
      spec_(spec),
      bound_(bound),
      call_(call),
      writer_(capture_folder(), capture_name(spec, bound.size, kernel_hash), spec, bound.size, backend.device(),
              kernel_hash) {
  if (configuration != nullptr) writer_.set_configuration(*configuration);
  for (std::size_t i = 0; i < spec.scalars.size(); ++i)
    writer_.add_scalar(spec.scalars[i].name, argument_text(call.arguments[bound.scalars[i]]));
  add_buffers(CaptureWriter::When::before);
}

void CapturedLaunch::add_buffers(CaptureWriter::When when) {
  const Bindings names = bindings(spec_, bound_.size, backend_.device().limits);
  for (std::size_t i = 0; i < spec_.buffers.size(); ++i) {
    const BufferSpec& buffer = spec_.buffers[i];
    if (bound_.buffers[i] == kWorkSpace) continue;
    if (!(when == CaptureWriter::When::before ? buffer.role != BufferRole::out : buffer.is_output())) continue;
    const auto from = reinterpret_cast<DevicePointer>(call_.arguments[bound_.buffers[i]].pointer);
    writer_.add_buffer(buffer.name, when, resolved_type(spec_, bound_.size, buffer.type),
                       static_cast<std::size_t>(buffer.count.evaluate_integer(names)),
                       [&](void* to, std::size_t offset, std::size_t bytes) {
                         backend_.fetch(to, from + offset, bytes, call_.stream.handle());
                       });
  }
}

void CapturedLaunch::finish() noexcept {
  LaunchCaptures::only_warn(spec_, [&] {
    add_buffers(CaptureWriter::When::after);
    if (!writer_.publish()) return;
    const std::string path = writer_.path().string();
    const std::string database = Serving::process().terms().settings.database;  // the database of the program
    std::fprintf(stderr, "tuner: captured %s %s; to tune it: tune --capture '%s'%s\n", spec_.name.c_str(),
                 bound_.size.text().c_str(), path.c_str(),
                 database.empty() ? "" : (" --db '" + database + '\'').c_str());
  });
}

std::unique_ptr<LaunchCaptures> LaunchCaptures::wanted_for(const std::string& kernel) {
  const std::vector<std::string>& patterns = capture_patterns();
  const bool matches = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), kernel.c_str(), 0) == 0;
  });
  return matches ? std::make_unique<LaunchCaptures>() : nullptr;
}

bool LaunchCaptures::wanted() noexcept { return !capture_patterns().empty(); }

std::unique_ptr<CapturedLaunch> LaunchCaptures::begin(Backend& backend, const KernelSpec& spec, const BoundCall& bound,
                                                      const Call& call, const Configuration* configuration) noexcept {
  std::unique_ptr<CapturedLaunch> launch;
  only_warn(spec, [&] {
    const std::lock_guard lock(mutex_);
    if (!begun_.insert(bound.size.text()).second) return;
    if (!IsolatedEvaluator::can_isolate(spec))
      throw Error("it is described in code alone, and a capture holds a kernel file");
    if (!kernel_hash_) kernel_hash_ = to_record(spec, {}).source_hash;
    const fs::path known = capture_folder() / capture_name(spec, bound.size, *kernel_hash_);
    if (fs::exists(known)) {
      std::fprintf(stderr, "tuner: %s %s was captured before: %s\n", spec.name.c_str(), bound.size.text().c_str(),
                   known.c_str());
      return;
    }
    launch = std::make_unique<CapturedLaunch>(backend, spec, bound, call, configuration, *kernel_hash_);
  });
  return launch;
}

void LaunchCaptures::refuse_in_graph(const KernelSpec& spec) noexcept {
  only_warn(spec, [] {
    throw Error(
        "its stream is captured into a graph, where nothing can be copied; a launch outside of the graph, with the "
        "same arguments, is captured");
  });
}

}  // namespace tuner::runtime
