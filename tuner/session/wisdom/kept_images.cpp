#include <tuner/session/wisdom/kept_images.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <cache/file/paths.hpp>
#include <cache/query/image_files.hpp>
#include <cache/records/json_value.hpp>
#include <cache/records/sha256.hpp>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/error.hpp>

namespace tuner {

namespace {

using cache::JsonValue;

/// The numbers of a compiled function that are kept, with their names.
void visit_resources(auto& resources, auto&& member) {
  member("constant_bytes", resources.constant_bytes);
  member("registers", resources.registers);
  member("spill_bytes", resources.spill_bytes);
  member("stack_bytes", resources.stack_bytes);
  member("static_shared_bytes", resources.static_shared_bytes);
}

/// Reads the member \p name of \p object. Returns whether it is there and a string.
bool read_string(const JsonValue& object, std::string_view name, std::string& to) {
  const JsonValue* const value = object.member(name);
  const auto* const text = value != nullptr ? value->as<std::string>() : nullptr;
  if (text != nullptr) to = *text;
  return text != nullptr;
}

bool read_function(const JsonValue& object, CompiledFunction& to) {
  const JsonValue* const resources = object.member("resources");
  bool complete = resources != nullptr && read_string(object, "expression", to.expression) &&
                  read_string(object, "symbol", to.symbol);
  if (!complete) return false;
  (void)read_string(*resources, "target", to.resources.target);
  visit_resources(to.resources, [&](const char* name, auto& number) {
    const JsonValue* const value = resources->member(name);
    const auto* const natural = value != nullptr ? value->as<std::uint64_t>() : nullptr;
    if (natural != nullptr && std::in_range<std::decay_t<decltype(number)>>(*natural))
      number = static_cast<std::decay_t<decltype(number)>>(*natural);
    else
      complete = false;
  });
  return complete;
}

/// nullopt when this release cannot read the metadata.
std::optional<Image> image_of(const cache::Image& stored) {
  const std::optional<JsonValue> meta = cache::read_json_or_nothing(stored.meta);
  const JsonValue* const functions = meta ? meta->member("functions") : nullptr;
  const auto* const list = functions != nullptr ? functions->as<JsonValue::List>() : nullptr;
  Image image;
  if (list == nullptr || !read_string(*meta, "log", image.log)) return std::nullopt;
  for (const JsonValue& function : *list)
    if (!read_function(function, image.functions.emplace_back())) return std::nullopt;
  image.code.resize(stored.bytes.size());
  std::memcpy(image.code.data(), stored.bytes.data(), stored.bytes.size());
  return image;
}

/// The members of \p architectures whose PTX a chip of \p key can run, nearest first.
std::vector<std::string> earlier_virtual(std::vector<std::string> architectures, const DeviceKey& key) {
  std::erase_if(architectures, [&](const std::string& one) {
    const std::optional<int> capability = virtual_capability(one);
    return !capability || *capability > key.compute_capability;
  });
  std::sort(architectures.begin(), architectures.end(),
            [](const std::string& a, const std::string& b) { return *virtual_capability(a) > *virtual_capability(b); });
  return architectures;
}

/// The request does not compile. This process does not try again.
struct Broken : Error {
  using Error::Error;
};
/// There is no compiler. One may be installed later, so the next call looks again.
struct NoCompiler : Error {
  using Error::Error;
};

cache::Image to_store(const Image& image) {
  JsonValue::List functions;
  for (const CompiledFunction& function : image.functions) {
    JsonValue::Object resources;
    visit_resources(function.resources,
                    [&](const char* name, std::int64_t number) { resources.emplace_back(name, JsonValue{number}); });
    resources.emplace_back("target", JsonValue{function.resources.target});
    functions.push_back({JsonValue::Object{
        {"expression", {function.expression}}, {"resources", {std::move(resources)}}, {"symbol", {function.symbol}}}});
  }
  const JsonValue meta{JsonValue::Object{{"functions", {std::move(functions)}}, {"log", {image.log}}}};
  return {std::string(reinterpret_cast<const char*>(image.code.data()), image.code.size()), meta.text()};
}

/// Tunings keep many images. Their own folder keeps them from crowding out the images of calls.
std::string tuned_on(const CompileRequest& request) { return "tuning-" + request.architecture; }

/// If the user's cache folder cannot be written to, the next process compiles the image again.
void keep(const CompileRequest& request, const std::string& key, const Image& image) {
  if (const auto folder = cache::user_cache_dir())
    (void)cache::keep_image(*folder, request.architecture, key, to_store(image));
}

}  // namespace

ImageStore image_cache(const std::function<void(std::string_view)>& warn) {
  const auto folder = cache::user_cache_dir();
  if (!folder) return {};
  const auto once = [warn] {
    return [warn, told = std::make_shared<std::atomic<bool>>(false)](const std::string& message) {
      if (warn && !told->exchange(true)) warn(message);
    };
  };
  ImageStore store;
  store.get = [=, warn_of = once()](const CompileRequest& request, std::string_view identity) -> std::optional<Image> {
    if (!is_addressable(request)) return std::nullopt;
    const auto stored = cache::kept_image(*folder, tuned_on(request), image_key(request, identity), warn_of);
    return stored ? image_of(*stored) : std::nullopt;
  };
  store.put = [=, warn_of = once()](const CompileRequest& request, std::string_view identity, const Image& image) {
    if (!is_addressable(request)) return;
    if (const auto why = cache::keep_image(*folder, tuned_on(request), image_key(request, identity), to_store(image)))
      warn_of("compiled images are not stored in " + folder->string() + ": " + *why);
  };
  return store;
}

std::string image_key(const CompileRequest& request, std::string_view maker) {
  const std::string source = cache::sha256_of_text(request.source), defines = std::to_string(request.defines.size());
  std::vector<std::string_view> parts{maker, request.architecture, source, defines};
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

std::string served_image_name(const CompileRequest& request, std::string_view backend) {
  return image_key(request, own_part_of_images(backend));
}

void ship_image(const std::filesystem::path& folder, const CompileRequest& request, std::string_view backend,
                const Image& image) {
  cache::write_image(folder, request.architecture, served_image_name(request, backend), to_store(image));
}

LoadedModules::LoadedModules(Backend& backend, std::function<void(std::string_view)> warn)
    : backend_(backend),
      warn_(std::move(warn)),
      own_part_(own_part_of_images(backend.device().key.backend)),
      images_(traits(backend.device().key).keeps_objects ? ImageStore{} : image_cache(warn_)) {}

std::shared_ptr<const Module> LoadedModules::load(const CompileRequest& request) {
  const std::string key = image_key(request, own_part_);
  std::shared_ptr<const Image> image;
  {
    const std::lock_guard lock(loading_);
    const Entry& known = modules_[key];
    if (known.module) return known.module;
    if (!known.failure.empty()) throw Error(ErrorCode::compiler, known.failure);
    image = known.compiled;
  }
  LaunchError why;
  if (!image) {
    const bool kept = keeps(request);
    if (kept) {
      if (auto module = from_files(request, request.architecture, key, key, why)) return module;
      if (auto module = tuned(request, key, why)) return module;
    }
    try {
      image = compile_and_keep(request, key, kept);
    } catch (const Error& error) {
      const bool broken = dynamic_cast<const Broken*>(&error) != nullptr;
      if (kept && (broken || dynamic_cast<const NoCompiler*>(&error) != nullptr))
        if (auto module = from_ptx(request, key, why)) return module;
      if (!broken) throw;
      const std::lock_guard lock(loading_);
      modules_[key].failure = error.what();
      any_broken_ = true;
      throw;
    }
  }
  if (auto module = loaded(*image, key, why)) return module;
  throw refusal(request, why);
}

void LoadedModules::prepare(const CompileRequest& request) noexcept try {
  const std::string key = image_key(request, own_part_);
  {
    const std::lock_guard lock(loading_);
    const Entry& known = modules_[key];
    if (known.module || known.compiled || !known.failure.empty()) return;
  }
  (void)compile_and_keep(request, key, keeps(request));
} catch (const std::exception&) {
}

std::shared_ptr<const Image> LoadedModules::compile_and_keep(const CompileRequest& request, const std::string& key,
                                                             bool kept) {
  Compiler* compiler = nullptr;
  const std::string no_image =
      request.file_name + ": no image for " + request.architecture + " is shipped or kept, and ";
  try {
    compiler = &backend_.compiler();
  } catch (const Passing& error) {
    throw Passing(error.code(), no_image + error.what());
  } catch (const Error& error) {
    throw NoCompiler(ErrorCode::compiler, no_image + "there is no compiler: " + error.what());
  }
  CompileResult result = compiler->compile(request);
  if (const auto* const failed = std::get_if<CompileError>(&result)) {
    const std::string why = request.file_name + ": does not compile for " + request.architecture + ": " +
                            failed->message + '\n' + failed->log;
    if (failed->machine_fault) throw Passing(ErrorCode::compiler, why);
    throw Broken(ErrorCode::compiler, why);
  }
  const auto image = std::make_shared<const Image>(std::move(std::get<Image>(result)));
  {
    const std::lock_guard lock(loading_);
    modules_[key].compiled = image;
  }
  if (kept) keep(request, key, *image);
  return image;
}

bool LoadedModules::keeps(const CompileRequest& request) const {
  return !traits(backend_.device().key).keeps_objects && is_addressable(request);
}

std::shared_ptr<const Module> LoadedModules::from_files(const CompileRequest& request, const std::string& architecture,
                                                        const std::string& name, const std::string& key,
                                                        LaunchError& why) {
  std::shared_ptr<const Module> module;
  const auto loads = [&](const cache::Image& stored) {
    const std::optional<Image> image = image_of(stored);
    if (image && std::ranges::any_of(image->functions, [&](const CompiledFunction& one) {
          return is_for_another_chip(one.resources.target, backend_.device().key.compute_capability);
        }))
      return false;  // PTX of a kernel that needs instructions of an earlier chip
    if (image && (module = loaded(*image, key, why))) return true;
    if (!image) why.message = "another release of tuner wrote it";
    pass_over(request, why);
    return false;
  };
  cache::find_image(architecture, name, loads, warn_);
  return module;
}

std::shared_ptr<const Module> LoadedModules::tuned(const CompileRequest& request, const std::string& key,
                                                   LaunchError& why) {
  if (!images_.get) return nullptr;
  std::optional<Image> image;
  try {
    image = images_.get(request, backend_.compiler().identity());
  } catch (const Error&) {  // no compiler
  }
  if (!image) return nullptr;
  auto module = loaded(*image, key, why);
  if (module)
    keep(request, key, *image);
  else
    pass_over(request, why);
  return module;
}

std::shared_ptr<const Module> LoadedModules::from_ptx(const CompileRequest& request, const std::string& key,
                                                      LaunchError& why) {
  for (const std::string& architecture : earlier_virtual(cache::image_architectures(), backend_.device().key)) {
    CompileRequest earlier = request;
    earlier.architecture = architecture;
    if (auto module = from_files(request, architecture, image_key(earlier, own_part_), key, why)) return module;
  }
  return nullptr;
}

/// Warns that an image is skipped. Throws when the cause is not the image: lack of memory, or a lost context.
void LoadedModules::pass_over(const CompileRequest& request, const LaunchError& why) {
  const Error refused = refusal(request, why);
  if (refused.code() != ErrorCode::compiler) throw refused;
  if (warn_) warn_(std::string("a compiled image is ignored: ") + refused.what());
}

/// Why an image of \p request does not load.
Error LoadedModules::refusal(const CompileRequest& request, const LaunchError& why) const {
  const bool passing = why.code == ErrorCode::out_of_memory || why.code == ErrorCode::context_lost;
  return Error(passing ? why.code : ErrorCode::compiler,
               request.file_name + ": does not load on " + backend_.device().name + ": " + why.message);
}

bool LoadedModules::is_broken(const CompileRequest& request) {
  {
    const std::lock_guard lock(loading_);
    if (!any_broken_) return false;  // without computing a key
  }
  const std::string key = image_key(request, own_part_);
  const std::lock_guard lock(loading_);
  const auto at = modules_.find(key);
  return at != modules_.end() && !at->second.module && !at->second.failure.empty();
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
