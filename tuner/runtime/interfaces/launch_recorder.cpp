#include <tuner/runtime/interfaces/launch_recorder.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/recording/recording_writer.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::runtime {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& record_patterns() {
  static const std::vector<std::string> patterns = [] {
    const char* const value = std::getenv("TUNER_RECORD");
    const auto all = at_commas(value != nullptr ? value : "");
    return std::vector<std::string>(all.begin(), all.end());
  }();
  return patterns;
}

fs::path record_folder() {
  const char* const folder = std::getenv("TUNER_RECORD_DIR");
  return folder != nullptr && *folder != '\0' ? folder : ".";
}

std::string argument_text(const detail::LaunchArgument& argument) {
  return with_number(argument, [](auto number) { return number_text(number); });
}

/// Calls \p act and turns its exception into a warning, which is given once.
void only_warn(const KernelSpec& spec, const std::function<void()>& act) noexcept {
  try {
    const Serving::Terms terms = Serving::process().terms();  // its destructor delivers the warning
    try {
      act();
    } catch (const std::exception& error) {
      terms.serving.warn("kernel '" + spec.name + "' was not recorded: " + error.what());
    }
  } catch (...) {  // the launch matters more
  }
}

/// Copies the kernel's inputs or outputs on the call's stream, and waits. Throws Error.
void add_buffers(RecordingWriter& writer, RecordingWriter::When when, Backend& backend, const KernelSpec& spec,
                 const BoundCall& bound, const Call& call) {
  const Bindings names = bindings(spec, bound.size, backend.device().limits);
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const BufferSpec& buffer = spec.buffers[i];
    if (bound.buffers[i] == kWorkSpace) continue;
    if (!(when == RecordingWriter::When::before ? buffer.role != BufferRole::out : buffer.is_output())) continue;
    const auto from = reinterpret_cast<DevicePointer>(call.arguments[bound.buffers[i]].pointer);
    writer.add_buffer(buffer.name, when, resolved_type(spec, bound.size, buffer.type),
                      static_cast<std::size_t>(buffer.count.evaluate_integer(names)),
                      [&](void* to, std::size_t offset, std::size_t bytes) {
                        backend.fetch(to, from + offset, bytes, call.stream.handle());
                      });
  }
}

}  // namespace

std::unique_ptr<LaunchRecorder> LaunchRecorder::wanted_for(const std::string& kernel) {
  const std::vector<std::string>& patterns = record_patterns();
  const bool matches = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), kernel.c_str(), 0) == 0;
  });
  return matches ? std::make_unique<LaunchRecorder>() : nullptr;
}

bool LaunchRecorder::wanted() noexcept { return !record_patterns().empty(); }

/// Returns the hash of the kernel if this call is the first to record \p size; nullopt: it was recorded before. Throws
/// Error if the kernel cannot be recorded.
std::optional<std::string> LaunchRecorder::begin_problem(const KernelSpec& spec, const ProblemSize& size) {
  const std::lock_guard lock(mutex_);
  if (!begun_.insert(size.text()).second) return std::nullopt;
  if (!IsolatedEvaluator::can_isolate(spec))
    throw Error("it is described in code alone, and a recording holds a kernel file");
  if (!kernel_hash_) kernel_hash_ = to_record(spec, {}).source_hash;
  const fs::path known = record_folder() / recording_name(spec, size, *kernel_hash_);
  if (!fs::exists(known)) return kernel_hash_;
  std::fprintf(stderr, "tuner: %s %s was recorded before: %s\n", spec.name.c_str(), size.text().c_str(), known.c_str());
  return std::nullopt;
}

void LaunchRecorder::record(const KernelSpec& spec, const Choices& choices, const Call& call,
                            const std::function<void()>& launch, const Configuration* configuration) {
  const auto beside_launch = [&](const auto& act) {
    only_warn(spec, [&] {
      const CallPlace place(call, Serving::process().ordinal());
      if (place.capture.active)
        throw Error(
            "its stream is captured into a graph, where nothing can be copied; a launch outside of the graph, with the "
            "same arguments, is recorded");
      const BesideCaptures allowed(place.context.name());
      act(place, *ServedDevice::of(place.context.name()).backend);
    });
  };
  std::optional<BoundCall> bound;
  std::unique_ptr<RecordingWriter> begun;
  beside_launch([&](const CallPlace& place, Backend& backend) {
    bound = bind_call(spec, choices, call, key_of(call, spec.name), place.suspects, backend.device().limits);
    const auto hash = begin_problem(spec, bound->size);
    if (!hash) return;
    auto writer = std::make_unique<RecordingWriter>(record_folder(), recording_name(spec, bound->size, *hash), spec,
                                                    bound->size, backend.device(), *hash);
    if (configuration != nullptr) writer->set_configuration(*configuration);
    for (std::size_t i = 0; i < spec.scalars.size(); ++i) {
      if (spec.scalars[i].record)
        throw Error("it takes a struct by value ('" + spec.scalars[i].name + "'), which a recording cannot hold");
      writer->add_scalar(spec.scalars[i].name, argument_text(call.arguments[bound->scalars[i]]));
    }
    add_buffers(*writer, RecordingWriter::When::before, backend, spec, *bound, call);
    begun = std::move(writer);
  });
  launch();
  if (!begun) return;
  beside_launch([&](const CallPlace&, Backend& backend) {
    add_buffers(*begun, RecordingWriter::When::after, backend, spec, *bound, call);
    if (!begun->publish()) return;
    const std::string path = begun->path().string();
    const std::string database = Serving::process().terms().settings.database;  // the database of the program
    std::fprintf(stderr, "tuner: recorded %s %s; to tune it: tune --recording '%s'%s\n", spec.name.c_str(),
                 bound->size.text().c_str(), path.c_str(),
                 database.empty() ? "" : (" --db '" + database + '\'').c_str());
  });
}

}  // namespace tuner::runtime
