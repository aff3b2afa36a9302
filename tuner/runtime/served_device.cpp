#include <tuner/runtime/served_device.hpp>

#include <bit>
#include <thread>

#include <tuner/core/error.hpp>
#include <tuner/session/images.hpp>

namespace tuner::runtime {
namespace {

constexpr std::size_t kSlotBytes = 16;
constexpr unsigned kSlots = 64;

Image compile(Compiler& compiler, const CompileRequest& request, bool keep) {
  const ImageCacheAdapter cache(nullptr);
  const ImageStore images = keep ? cache.store() : ImageStore{};
  const std::string identity = compiler.identity();
  if (images.get) {
    if (auto known = images.get(request, identity)) return std::move(*known);
  }
  CompileResult result = compiler.compile(request);
  if (const auto* failed = std::get_if<CompileError>(&result)) {
    throw Error(request.file_name + ": does not compile for " + request.architecture + ": " + failed->message + '\n' +
                failed->log);
  }
  Image& image = std::get<Image>(result);
  if (images.put) images.put(request, identity, image);
  return std::move(image);
}

}  // namespace

ServedDevice::ServedDevice(const ContextName& context, std::unique_ptr<Backend> backend)
    : context_(context),
      backend_(std::move(backend)),
      work_(*backend_, context),
      results_(backend_->allocate(kSlotBytes * kSlots)),
      free_results_(~std::uint64_t{0}) {}

std::vector<LoadedFunction> ServedDevice::load(const CompileRequest& request) {
  const std::string key = image_key(request, backend_->compiler().identity());
  {
    const std::lock_guard lock(loading_);
    if (const auto at = loaded_.find(key); at != loaded_.end()) return at->second;
  }
  const bool keep = !is_host(context_);  // the host backend keeps its objects by itself
  const Image image = compile(backend_->compiler(), request, keep);
  const BesideCaptures allowed(context_);
  const std::lock_guard lock(loading_);
  if (const auto at = loaded_.find(key); at != loaded_.end()) return at->second;
  auto loaded = backend_->load(image);
  if (const auto* failed = std::get_if<LaunchError>(&loaded)) {
    throw Error(request.file_name + ": does not load on " + device().name + ": " + failed->message);
  }
  const std::shared_ptr<const Module> module = std::move(std::get<std::unique_ptr<Module>>(loaded));
  std::vector<LoadedFunction>& functions = loaded_[key];
  for (std::size_t i = 0; i < request.expressions.size(); ++i) functions.push_back({module, i});
  return functions;
}

ServedDevice::FirstUse::FirstUse(ServedDevice& device, const std::string& problem)
    : device_(device), turn_(Turn::mine) {
  std::unique_lock lock(device_.tuning_);
  if (device_.being_tuned_.empty()) {
    device_.being_tuned_ = problem;
  } else if (device_.being_tuned_ == problem) {
    device_.tuned_.wait(lock, [&] { return device_.being_tuned_ != problem; });
    turn_ = Turn::over;
  } else {
    turn_ = Turn::later;
  }
}

ServedDevice::FirstUse::~FirstUse() {
  if (turn_ != Turn::mine) return;
  const std::lock_guard lock(device_.tuning_);
  device_.being_tuned_.clear();
  device_.tuned_.notify_all();
}

ServedDevice::ResultSlot::ResultSlot(ServedDevice& owner) : owner_(owner) {
  for (;;) {
    std::uint64_t free = owner_.free_results_.load(std::memory_order_relaxed);
    if (free == 0) {
      std::this_thread::yield();  // 64 threads wait for results already
      continue;
    }
    index_ = static_cast<unsigned>(std::countr_zero(free));
    if (owner_.free_results_.compare_exchange_weak(free, free & ~(std::uint64_t{1} << index_),
                                                   std::memory_order_acquire))
      return;
  }
}

ServedDevice::ResultSlot::~ResultSlot() {
  owner_.free_results_.fetch_or(std::uint64_t{1} << index_, std::memory_order_release);
}

DevicePointer ServedDevice::ResultSlot::address() const { return owner_.results_->address() + index_ * kSlotBytes; }

}  // namespace tuner::runtime
