#include <tuner/runtime/served_device.hpp>

#include <pthread.h>

#include <tuner/backend/gpu.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/error.hpp>
#include <tuner/runtime/by_context.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/images.hpp>

namespace tuner::runtime {

ServedDevice& ServedDevice::of(const CallContext& call) {
  // Never destroyed: threads may still launch while the process ends, and drivers may be gone by then.
  static ByContext<ServedDevice>& devices = *new ByContext<ServedDevice>;
  if (ServedDevice* known = devices.find(call.id())) return *known;
  const ContextName context = call.name();
  const BesideCaptures allowed(context);
  return devices.get(context, [&] {
    auto backend = is_host(context) ? open_backend(choose_device("host").device) : open_gpu_context(context);
    auto opened = std::make_unique<ServedDevice>(context, std::move(backend));
    static const int watched = ::pthread_atfork(nullptr, nullptr, [] { forked_ = true; });
    (void)watched;
    return opened;
  });
}

std::shared_ptr<const Module> ServedDevice::load(const CompileRequest& request) {
  Compiler& compiler = backend->compiler();
  const std::string identity = compiler.identity(), key = image_key(request, identity);
  {
    const std::lock_guard lock(loading_);
    if (const auto& known = modules_[key]) return known;
  }
  const ImageStore images = traits(device().key).keeps_objects ? ImageStore{} : image_cache();
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
  const std::lock_guard lock(loading_);
  std::shared_ptr<const Module>& module = modules_[key];
  if (module) return module;
  auto loaded = backend->load(*image);
  if (const auto* failed = std::get_if<LaunchError>(&loaded))
    throw Error(request.file_name + ": does not load on " + device().name + ": " + failed->message);
  return module = std::move(std::get<std::unique_ptr<Module>>(loaded));
}

void ServedDevice::throw_forked() {
  throw Error(
      "this process was forked from one that had launched kernels through tuner, and neither CUDA nor tuner's threads "
      "survive fork(): start it with exec, or fork before the first launch");
}

}  // namespace tuner::runtime
