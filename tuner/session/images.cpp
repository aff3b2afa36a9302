#include <tuner/session/images.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include <cache/image_cache.hpp>
#include <cache/paths.hpp>
#include <cache/sha256.hpp>

namespace tuner {
namespace {

using nlohmann::json;

json to_json(const CompiledFunction& function) {
  const Resources& used = function.resources;
  return {{"expression", function.expression},    {"symbol", function.symbol},
          {"registers", used.registers},          {"spill_bytes", used.spill_bytes},
          {"stack_bytes", used.stack_bytes},      {"static_shared_bytes", used.static_shared_bytes},
          {"constant_bytes", used.constant_bytes}};
}

CompiledFunction function_of(const json& stored) {
  CompiledFunction function;
  stored.at("expression").get_to(function.expression);
  stored.at("symbol").get_to(function.symbol);
  stored.at("registers").get_to(function.resources.registers);
  stored.at("spill_bytes").get_to(function.resources.spill_bytes);
  stored.at("stack_bytes").get_to(function.resources.stack_bytes);
  stored.at("static_shared_bytes").get_to(function.resources.static_shared_bytes);
  stored.at("constant_bytes").get_to(function.resources.constant_bytes);
  return function;
}

/// Nothing when the metadata is not what to_json() wrote.
std::optional<Image> image_of(const cache::Image& stored) {
  try {
    Image image;
    const json meta = json::parse(stored.meta);
    for (const json& function : meta.at("functions")) image.functions.push_back(function_of(function));
    image.log = meta.value("log", "");
    image.code.resize(stored.bytes.size());
    std::memcpy(image.code.data(), stored.bytes.data(), stored.bytes.size());
    return image;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

struct ImageCacheAdapter::State {
  std::optional<cache::ImageCache> cache;
  std::mutex mutex;
};

ImageCacheAdapter::ImageCacheAdapter(Observer* observer) : state_(std::make_shared<State>()) {
  const auto folder = cache::user_cache_dir();
  if (!folder) return;
  cache::ImageCacheOptions options;
  if (observer) options.warn = [observer](const std::string& message) { observer->on_warning(message); };
  state_->cache.emplace(*folder, std::move(options));
}

ImageCacheAdapter::~ImageCacheAdapter() = default;

ImageStore ImageCacheAdapter::store() const {
  if (!state_->cache) return {};
  ImageStore store;
  store.get = [state = state_](const CompileRequest& request, std::string_view identity) -> std::optional<Image> {
    if (!is_addressable(request)) return std::nullopt;
    const std::lock_guard lock(state->mutex);
    const auto stored = state->cache->get(image_key(request, identity));
    return stored ? image_of(*stored) : std::nullopt;
  };
  store.put = [state = state_](const CompileRequest& request, std::string_view identity, const Image& image) {
    if (!is_addressable(request)) return;
    json functions = json::array();
    for (const CompiledFunction& function : image.functions) functions.push_back(to_json(function));
    const std::string meta =
        json{{"functions", functions}, {"log", image.log}}.dump(-1, ' ', false, json::error_handler_t::replace);
    const std::string bytes(reinterpret_cast<const char*>(image.code.data()), image.code.size());
    const std::lock_guard lock(state->mutex);
    state->cache->put(image_key(request, identity), bytes, meta);
  };
  return store;
}

std::string image_key(const CompileRequest& request, std::string_view compiler_identity) {
  const std::string defines = std::to_string(request.defines.size());
  std::vector<std::string_view> parts{compiler_identity, request.architecture, request.source, defines};
  parts.insert(parts.end(), request.defines.begin(), request.defines.end());
  parts.insert(parts.end(), request.expressions.begin(), request.expressions.end());
  if (request.includes)
    for (const IncludedFile& file : request.includes->files) parts.push_back(file.text);
  return cache::sha256_of_parts(parts);
}

bool is_addressable(const CompileRequest& request) {
  if (!request.includes) return true;
  if (request.includes->unknown) return false;
  const Includes now = included_files(request.source, request.file_name);
  return std::equal(now.files.begin(), now.files.end(), request.includes->files.begin(), request.includes->files.end(),
                    [](const auto& a, const auto& b) { return a.path == b.path && a.text == b.text; });
}

}  // namespace tuner
