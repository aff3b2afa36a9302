#include <tuner/array.hpp>

#include <algorithm>

#include <tuner/backend/gpu.hpp>
#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>

namespace tuner {
inline namespace TUNER_ABI {
namespace detail {

struct ArrayMemory::Impl {
  ~Impl() {
    const BesideCaptures allowed(context);
    memory.reset();
  }

  ContextName context;
  std::shared_ptr<Backend> backend;  // may outlive the context
  std::unique_ptr<DeviceMemory> memory;
};

ArrayMemory::ArrayMemory(std::size_t bytes) try {
  const CallContext context(nullptr, runtime::Serving::process().ordinal());
  const BesideCaptures allowed(context.name());
  impl_ = std::make_unique<Impl>();
  impl_->context = context.name();
  impl_->backend = runtime::ServedDevice::of(impl_->context).backend;
  impl_->memory = impl_->backend->allocate(std::max<std::size_t>(bytes, 1));
} catch (...) {
  runtime::leave_with_error();
}

ArrayMemory::~ArrayMemory() = default;
ArrayMemory::ArrayMemory(ArrayMemory&&) noexcept = default;
ArrayMemory& ArrayMemory::operator=(ArrayMemory&&) noexcept = default;

void* ArrayMemory::address() const { return reinterpret_cast<void*>(impl_->memory->address()); }

void ArrayMemory::upload(const void* from, std::size_t bytes) try {
  const BesideCaptures allowed(impl_->context);
  if (bytes > 0) impl_->backend->upload(impl_->memory->address(), from, bytes);
} catch (...) {
  runtime::leave_with_error();
}

void ArrayMemory::download(void* to, std::size_t bytes) const try {
  const BesideCaptures allowed(impl_->context);
  if (is_alive(impl_->context)) wait_for_all(impl_->context);
  if (bytes > 0) impl_->backend->download(to, impl_->memory->address(), bytes);
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace detail
}  // namespace TUNER_ABI
}  // namespace tuner
