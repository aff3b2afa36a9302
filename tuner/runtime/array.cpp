#include <tuner/array.hpp>

#include <algorithm>

#include <tuner/runtime/serving.hpp>

namespace tuner::detail {

struct ArrayMemory::Impl {
  runtime::ServedDevice& device;
  std::unique_ptr<DeviceMemory> memory;
};

ArrayMemory::ArrayMemory(std::size_t bytes) {
  runtime::Serving& serving = runtime::Serving::process();
  runtime::ServedDevice& device = serving.device(serving.context_for(nullptr));
  impl_ = std::make_unique<Impl>(Impl{device, device.backend().allocate(std::max<std::size_t>(bytes, 1))});
}

ArrayMemory::~ArrayMemory() = default;
ArrayMemory::ArrayMemory(ArrayMemory&&) noexcept = default;
ArrayMemory& ArrayMemory::operator=(ArrayMemory&&) noexcept = default;

void* ArrayMemory::address() const { return reinterpret_cast<void*>(impl_->memory->address()); }

void ArrayMemory::upload(const void* from, std::size_t bytes) {
  if (bytes > 0) impl_->device.backend().upload(impl_->memory->address(), from, bytes);
}

void ArrayMemory::download(void* to, std::size_t bytes) const {
  impl_->device.backend().synchronize(nullptr);
  if (bytes > 0) impl_->device.backend().download(to, impl_->memory->address(), bytes);
}

}  // namespace tuner::detail
