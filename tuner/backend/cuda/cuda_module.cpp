#include <tuner/backend/cuda/cuda_module.hpp>

#include <utility>

#include <tuner/core/occupancy.hpp>
#include <tuner/core/parameter_types.hpp>

namespace tuner::cuda {

CudaModule::CudaModule(SharedState state, const Image& image)
    : state_(std::move(state)), module_(load_module(image.code.data())) {
  for (const CompiledFunction& compiled : image.functions) {
    Entry& entry = entries_.emplace_back();
    if (compiled.expression.starts_with('&')) {
      entry.variable = get_variable(module_.get(), compiled.symbol);
      continue;
    }
    entry.kernel = get_function(module_.get(), compiled.symbol);
    entry.symbol = compiled.symbol;
    entry.spill_bytes = compiled.resources.spill_bytes;
    const DeviceLimits& limits = state_->device.limits;
    allow_shared_memory(entry.kernel, limits.max_shared_bytes - entry.kernel.resources.static_shared_bytes, limits);
  }
}

CudaModule::~CudaModule() {
  if (!state_->free_in_context([this] { module_.reset(); })) (void)module_.release();
}

Resources CudaModule::resources(std::size_t function, const LaunchShape& shape) const {
  const Entry& entry = entries_.at(function);
  Resources resources = entry.kernel.resources;
  resources.spill_bytes = entry.spill_bytes;
  const Occupancy fit = occupancy(state_->device.limits, shape.threads_per_block(), resources.registers,
                                  shape.shared_bytes + resources.static_shared_bytes);
  resources.blocks_per_sm = fit.blocks_per_sm;
  resources.occupancy = fit.fraction;
  return resources;
}

std::vector<std::string> CudaModule::parameter_types(std::size_t function) const {
  return tuner::parameter_types(entries_.at(function).symbol);
}

CudaMemory::~CudaMemory() {
  state_->free_in_context([this] { driver().cuMemFree(address_); });
}

}  // namespace tuner::cuda
