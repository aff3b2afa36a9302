#include <tuner/session/images.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include <cache/image_cache.hpp>
#include <cache/paths.hpp>
#include <cache/sha256.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/error.hpp>

namespace tuner {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Resources, registers, spill_bytes, stack_bytes, static_shared_bytes, constant_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompiledFunction, expression, symbol, resources)

namespace {

using nlohmann::json;

/// Nothing when the metadata is not what this release writes.
std::optional<Image> image_of(const cache::Image& stored) {
  try {
    Image image;
    const json meta = json::parse(stored.meta);
    meta.at("functions").get_to(image.functions);
    meta.at("log").get_to(image.log);
    image.code.resize(stored.bytes.size());
    std::memcpy(image.code.data(), stored.bytes.data(), stored.bytes.size());
    return image;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

ImageStore image_cache(const std::function<void(std::string_view)>& warn) {
  const auto folder = cache::user_cache_dir();
  if (!folder) return {};
  const auto known = std::make_shared<cache::ImageCache>(*folder, cache::ImageCacheOptions{.warn = warn});
  ImageStore store;
  store.get = [known](const CompileRequest& request, std::string_view identity) -> std::optional<Image> {
    if (!is_addressable(request)) return std::nullopt;
    const auto stored = known->get(image_key(request, identity));
    return stored ? image_of(*stored) : std::nullopt;
  };
  store.put = [known](const CompileRequest& request, std::string_view identity, const Image& image) {
    if (!is_addressable(request)) return;
    const std::string meta =
        json{{"functions", image.functions}, {"log", image.log}}.dump(-1, ' ', false, json::error_handler_t::replace);
    const std::string bytes(reinterpret_cast<const char*>(image.code.data()), image.code.size());
    known->put(image_key(request, identity), bytes, meta);
  };
  return store;
}

std::string image_key(const CompileRequest& request, std::string_view compiler_identity) {
  const std::string defines = std::to_string(request.defines.size());
  std::vector<std::string_view> parts{compiler_identity, request.architecture, request.source, defines};
  parts.insert(parts.end(), request.defines.begin(), request.defines.end());
  parts.insert(parts.end(), request.expressions.begin(), request.expressions.end());
  if (request.device_launches) parts.emplace_back("device launches");
  for (const CompileOption& option : request.options) parts.push_back(option.text);
  if (!request.macros.empty()) parts.emplace_back("macros");
  parts.insert(parts.end(), request.macros.begin(), request.macros.end());
  if (request.includes)
    for (const IncludedFile& file : request.includes->files) parts.push_back(file.text);
  return cache::sha256_of_parts(parts);
}

bool is_addressable(const CompileRequest& request) {
  if (!request.includes) return true;
  if (request.includes->unknown) return false;
  const Includes now = included_files(request.source, request.file_name, request.include_paths);
  return std::equal(now.files.begin(), now.files.end(), request.includes->files.begin(), request.includes->files.end(),
                    [](const auto& a, const auto& b) { return a.path == b.path && a.text == b.text; });
}

std::shared_ptr<const Module> LoadedModules::load(const CompileRequest& request) {
  const std::string identity = backend_.compiler().identity(), key = image_key(request, identity);
  std::shared_ptr<const Image> image;
  {
    const std::lock_guard lock(loading_);
    const Entry& known = modules_[key];
    if (known.module) return known.module;
    if (!known.failure.empty()) throw Error(ErrorCode::compiler, known.failure);
    image = known.compiled;
  }
  const auto refusal = [&](const LaunchError& why) {
    const bool passing = why.code == ErrorCode::out_of_memory || why.code == ErrorCode::context_lost;
    return Error(passing ? why.code : ErrorCode::compiler,
                 request.file_name + ": does not load on " + backend_.device().name + ": " + why.message);
  };
  LaunchError why;
  if (!image) {
    const ImageStore images = traits(backend_.device().key).keeps_objects ? ImageStore{} : image_cache(warn_);
    std::optional<Image> kept;
    if (images.get) kept = images.get(request, identity);
    if (kept) {
      if (auto module = loaded(*kept, key, why)) return module;
      const Error refused = refusal(why);
      if (refused.code() != ErrorCode::compiler) throw refused;
      if (warn_) warn_("a kept image is compiled again: " + std::string(refused.what()));
    }
    image = compiled(request, key);
    if (images.put) images.put(request, identity, *image);
  }
  if (auto module = loaded(*image, key, why)) return module;
  throw refusal(why);
}

bool LoadedModules::is_broken(const CompileRequest& request) {
  {
    const std::lock_guard lock(loading_);
    if (!any_broken_) return false;  // nor is there need for a compiler
  }
  const std::string key = image_key(request, backend_.compiler().identity());
  const std::lock_guard lock(loading_);
  const auto at = modules_.find(key);
  return at != modules_.end() && !at->second.failure.empty();
}

std::shared_ptr<const Image> LoadedModules::compiled(const CompileRequest& request, const std::string& key) {
  CompileResult result = backend_.compiler().compile(request);
  const std::lock_guard lock(loading_);
  Entry& entry = modules_[key];
  if (const auto* failed = std::get_if<CompileError>(&result)) {
    const std::string why = request.file_name + ": does not compile for " + request.architecture + ": " +
                            failed->message + '\n' + failed->log;
    if (!failed->machine_fault) {  // which the next call need not meet
      entry.failure = why;
      any_broken_ = true;
    }
    throw Error(ErrorCode::compiler, why);
  }
  return entry.compiled = std::make_shared<const Image>(std::move(std::get<Image>(result)));
}

std::shared_ptr<const Module> LoadedModules::loaded(const Image& image, const std::string& key, LaunchError& why) {
  const std::lock_guard lock(loading_);
  Entry& entry = modules_[key];
  if (entry.module) return entry.module;
  auto result = backend_.load(image);
  if (auto* failed = std::get_if<LaunchError>(&result)) {
    why = std::move(*failed);
    return nullptr;
  }
  entry.compiled = nullptr;
  return entry.module = std::move(std::get<std::unique_ptr<Module>>(result));
}

}  // namespace tuner
