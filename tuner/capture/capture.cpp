#include <tuner/capture/capture.hpp>

#include <stdexcept>

#include <nlohmann/json.hpp>

#include <cache/sha256.hpp>

#include <tuner/core/error.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/captured_data.hpp>
#include <tuner/session/records.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t kMaxListBytes = std::int64_t{1} << 24;

/// The path of a file of the capture. A capture may come from anybody, so it may name only files in its own folder.
fs::path own_file(const fs::path& folder, const std::string& name) {
  const fs::path path(name);
  bool inside = !path.empty() && path.is_relative();
  for (const fs::path& part : path) inside = inside && part != "..";
  if (!inside) throw Error("'" + name + "' is not a file of the capture");
  return folder / path;
}

/// The file of \p listed, checked to be the one that was captured.
fs::path checked_file(const fs::path& folder, const Json& listed) {
  const fs::path path = own_file(folder, listed.at("file").get<std::string>());
  require_input_file(path, kMaxDataFileBytes, "captured buffer");
  if (static_cast<std::int64_t>(fs::file_size(path)) != listed.at("bytes").get<std::int64_t>())
    throw Error(path.string() + " has " + std::to_string(fs::file_size(path)) + " bytes, not the " +
                listed.at("bytes").dump() + " that were captured");
  if (cache::sha256_file(path) != listed.at("sha256").get<std::string>())
    throw Error(path.string() + " has changed since it was captured");
  return path;
}

KernelSpec checked_kernel(const fs::path& folder, const Json& listed) {
  KernelSpec spec = read_kernel_file(own_file(folder, listed.at("file").get<std::string>()));
  if (to_record(spec, {}).source_hash == listed.at("sha256").get<std::string>()) return spec;
  throw Error(spec.file +
              " has changed since it was captured, or a file that it includes by an absolute path has. The application "
              "would not be served with the result. Capture the launch again");
}

Capture capture_of(const fs::path& folder, const Json& list) {
  if (list.at("format") != kCaptureFormat) throw Error("it is not a capture");
  if (const int version = list.at("version").get<int>(); version != kCaptureVersion)
    throw Error("its version is " + std::to_string(version) + ", and this tuner reads " +
                std::to_string(kCaptureVersion));
  Capture capture;
  capture.spec = checked_kernel(folder, list.at("kernel"));
  capture.size = complete(capture.spec, {list.at("sizes"), list.at("choices")});
  if (const Json& configuration = list.at("configuration"); !configuration.is_null())
    capture.configuration = Configuration::parse(configuration.get<std::string>());
  const Json& device = list.at("device");
  capture.backend = device.at("backend");
  capture.device_key = device.at("key");
  capture.device_name = device.at("name");

  std::vector<std::string> digests;
  for (const auto& [name, text] : list.at("scalars").items()) {
    const ScalarSpec* const scalar = capture.spec.find_scalar(name);
    if (scalar == nullptr) throw Error("the kernel has no scalar '" + name + "'");
    capture.data.scalars[name] = text.get<std::string>();
    captured_number(resolved_type(capture.spec, capture.size, scalar->type), capture.data.scalars[name]);
    digests.push_back(name + '=' + capture.data.scalars[name]);
  }
  for (const auto& [name, buffer] : list.at("buffers").items()) {
    if (capture.spec.find_buffer(name) == nullptr) throw Error("the kernel has no buffer '" + name + "'");
    for (const auto& [when, files] : {std::pair{"before", &capture.data.inputs}, {"after", &capture.data.outputs}}) {
      if (!buffer.contains(when)) continue;
      files->emplace(name, checked_file(folder, buffer.at(when)).string());
      digests.push_back(name + ' ' + when + ' ' + buffer.at(when).at("sha256").get<std::string>());
    }
  }
  capture.data.digest = cache::sha256_of_parts({digests.begin(), digests.end()});
  return capture;
}

fs::path list_of(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? path / kCaptureFile : path;
}

/// Adds the path of \p list to errors of \p work.
template <typename Work>
auto naming(const fs::path& list, Work work) try {
  return work();
} catch (const SpecError&) {
  throw;  // names its own place
} catch (const Json::exception& error) {
  throw Error(list.string() + ": it is not a capture, or it is damaged: " + error.what());
} catch (const std::exception& error) {
  throw Error(list.string() + ": " + error.what());
}

}  // namespace

Capture read_capture(const fs::path& path) {
  const fs::path list = list_of(path);
  return parse_capture(read_input_file(list, kMaxListBytes, "capture"), list.parent_path());
}

std::string backend_of_capture(const fs::path& path) {
  const fs::path list = list_of(path);
  const std::string text = read_input_file(list, kMaxListBytes, "capture");
  return naming(list, [&] { return Json::parse(text).at("device").at("backend").get<std::string>(); });
}

Capture parse_capture(const std::string& text, const fs::path& folder) {
  return naming(folder / kCaptureFile, [&] { return capture_of(folder, Json::parse(text)); });
}

}  // namespace tuner
