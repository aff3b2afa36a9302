#include <tuner/recording/launch_recording.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <system_error>

#include <cache/records/json.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxListBytes = std::int64_t{1} << 24;

/// The path of a file of the recording. A recording may come from anybody, so it may name only files in its own folder,
/// also through symbolic links.
fs::path own_file(const fs::path& folder, const std::string& name) {
  const fs::path path(name);
  bool inside = !path.empty() && path.is_relative();
  for (const fs::path& part : path) inside = inside && part != "..";
  if (!inside) throw Error(in_quotes(name) + " is not a file of the recording");
  std::error_code error;
  const fs::path own = fs::weakly_canonical(folder.empty() ? "." : folder, error);
  const fs::path real = error ? fs::path() : fs::weakly_canonical(own / path, error);
  if (error || std::mismatch(own.begin(), own.end(), real.begin(), real.end()).first != own.end())
    throw Error(in_quotes(name) + " is not a file of the recording: " +
                (error ? error.message() : "a symbolic link leads out of its folder"));
  return folder / path;
}

/// The integer \p name of a list. The JSON library would also round fractions and wrap large numbers.
std::int64_t integer(const Json& list, const std::string& name) {
  const Json& value = list.at(name);
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > most))
    throw Error(in_quotes(name) + " is " + (value.is_number() ? text_of_json(value) : value.type_name()) +
                ", not an integer of 64 bits");
  return value.get<std::int64_t>();
}

/// The file of \p listed, checked to be the one that was recorded.
fs::path checked_file(const fs::path& folder, const Json& listed) {
  const fs::path path = own_file(folder, listed.at("file").get<std::string>());
  require_input_file(path, kMaxDataFileBytes, "recorded buffer");
  if (static_cast<std::int64_t>(fs::file_size(path)) != integer(listed, "bytes"))
    throw Error(path.string() + " has " + std::to_string(fs::file_size(path)) + " bytes, not the " +
                text_of_json(listed.at("bytes")) + " that were recorded");
  if (cache::sha256_file(path) != listed.at("sha256").get<std::string>())
    throw Error(path.string() + " has changed since it was recorded");
  return path;
}

KernelSpec checked_kernel(const fs::path& folder, const Json& listed) {
  KernelSpec spec = read_kernel_file(own_file(folder, listed.at("file").get<std::string>()));
  if (to_record(spec, {}).source_hash == listed.at("sha256").get<std::string>()) return spec;
  throw Error(spec.program.file +
              " has changed since it was recorded, or a file that it includes by an absolute path has. The application "
              "would not be served with the result. Record the launch again");
}

/// The members of \p object, sorted by name: the digest does not depend on their order in the file.
std::map<std::string, const Json*> by_name(const Json& object) {
  std::map<std::string, const Json*> members;
  for (const auto& [name, value] : object.items()) members.emplace(name, &value);
  return members;
}

Recording recording_of(const fs::path& folder, const Json& list) {
  if (list.at("format") != kRecordingFormat) throw Error("it is not a recording");
  if (const std::int64_t version = integer(list, "version"); version != kRecordingVersion)
    throw Error("its version is " + std::to_string(version) + ", and this tuner reads " +
                std::to_string(kRecordingVersion));
  Recording recording;
  recording.spec = checked_kernel(folder, list.at("kernel"));
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, size] : list.at("sizes").items()) sizes[name] = integer(list.at("sizes"), name);
  recording.size = complete(recording.spec, {sizes, list.at("choices")});
  if (const Json& configuration = list.at("configuration"); !configuration.is_null())
    recording.configuration = Configuration::parse(configuration.get<std::string>());
  const Json& device = list.at("device");
  recording.backend = device.at("backend");
  recording.device_key = device.at("key");
  recording.device_name = device.at("name");

  std::vector<std::string> digests;
  for (const auto& [name, text] : by_name(list.at("scalars"))) {
    const ScalarSpec* const scalar = recording.spec.find_scalar(name);
    if (scalar == nullptr) throw Error("the kernel has no scalar '" + name + "'");
    if (scalar->record) throw Error("the scalar '" + name + "' is a struct, which is not recorded");
    recording.data.scalars[name] = text->get<std::string>();
    recorded_number(resolved_type(recording.spec, recording.size, scalar->type), recording.data.scalars[name]);
    digests.push_back(name + '=' + recording.data.scalars[name]);
  }
  for (const ScalarSpec& scalar : recording.spec.scalars)
    if (!recording.data.scalars.contains(scalar.name)) throw Error("it does not have the scalar '" + scalar.name + "'");
  for (const auto& [name, buffer] : by_name(list.at("buffers"))) {
    if (recording.spec.find_buffer(name) == nullptr) throw Error("the kernel has no buffer '" + name + "'");
    for (const auto& [when, files] :
         {std::pair{"before", &recording.data.inputs}, {"after", &recording.data.outputs}}) {
      if (!buffer->contains(when)) continue;
      files->emplace(name, checked_file(folder, buffer->at(when)).string());
      digests.push_back(name + ' ' + when + ' ' + buffer->at(when).at("sha256").get<std::string>());
    }
  }
  recording.data.digest = cache::sha256_of_parts({digests.begin(), digests.end()});
  return recording;
}

fs::path list_of(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? path / kRecordingFile : path;
}

/// Adds the path of \p list to errors of \p work.
template <typename Work>
auto naming(const fs::path& list, Work work) try {
  return work();
} catch (const SpecError&) {
  throw;  // names its own place
} catch (const Json::exception& error) {
  throw Error(list.string() + ": it is not a recording, or it is damaged: " + json_fault(error));
} catch (const std::exception& error) {
  throw Error(list.string() + ": " + error.what());
}

}  // namespace

Recording read_recording(const fs::path& path) {
  const fs::path list = list_of(path);
  return parse_recording(read_input_file(list, kMaxListBytes, "recording"), list.parent_path());
}

std::string backend_of_recording(const fs::path& path) {
  const fs::path list = list_of(path);
  const std::string text = read_input_file(list, kMaxListBytes, "recording");
  return naming(list, [&] { return json_of_text(text).at("device").at("backend").get<std::string>(); });
}

Recording parse_recording(const std::string& text, const fs::path& folder) {
  return naming(folder / kRecordingFile, [&] { return recording_of(folder, json_of_text(text)); });
}

}  // namespace tuner
