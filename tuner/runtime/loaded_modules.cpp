#include <tuner/runtime/loaded_modules.hpp>

#include <tuner/backend/gpu.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/error.hpp>
#include <tuner/session/images.hpp>

namespace tuner::runtime {

std::shared_ptr<const Module> LoadedModules::load(const CompileRequest& request) {
  Compiler& compiler = backend_.compiler();
  const std::string identity = compiler.identity(), key = image_key(request, identity);
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
  }
  const ImageStore images = traits(backend_.device().key).keeps_objects ? ImageStore{} : image_cache();
  std::optional<Image> image;
  if (images.get) image = images.get(request, identity);
  if (!image) {
    CompileResult result = compiler.compile(request);
    if (const auto* failed = std::get_if<CompileError>(&result)) {
      throw Error(request.file_name + ": does not compile for " + request.architecture + ": " + failed->message + '\n' +
                  failed->log);
    }
    image = std::move(std::get<Image>(result));
    if (images.put) images.put(request, identity, *image);
  }
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Module>& module = known_[key];
  if (module) return module;
  auto loaded = backend_.load(*image);
  if (const auto* failed = std::get_if<LaunchError>(&loaded)) {
    throw Error(request.file_name + ": does not load on " + backend_.device().name + ": " + failed->message);
  }
  return module = std::move(std::get<std::unique_ptr<Module>>(loaded));
}

}  // namespace tuner::runtime
