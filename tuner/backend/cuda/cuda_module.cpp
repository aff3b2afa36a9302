#include <tuner/backend/cuda/cuda_module.hpp>

#include <utility>

#include <fmt/format.h>

#include <tuner/core/launch_shape.hpp>
#include <tuner/core/element_type.hpp>

namespace tuner::cuda {
namespace {

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = 0;
  check(driver().cuFuncGetAttribute(&value, which, function), "cuFuncGetAttribute");
  return value;
}

}  // namespace

KernelFunction get_function(CUmodule module, const std::string& symbol) {
  KernelFunction kernel;
  check(driver().cuModuleGetFunction(&kernel.handle, module, symbol.c_str()), "cuModuleGetFunction");
  kernel.resources.registers = attribute(kernel.handle, CU_FUNC_ATTRIBUTE_NUM_REGS);
  kernel.resources.stack_bytes = attribute(kernel.handle, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  kernel.resources.static_shared_bytes = attribute(kernel.handle, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  kernel.resources.constant_bytes = attribute(kernel.handle, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  kernel.max_threads_per_block = attribute(kernel.handle, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  return kernel;
}

Variable get_variable(CUmodule module, const std::string& symbol) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  check(driver().cuModuleGetGlobal(&address, &bytes, module, symbol.c_str()), "cuModuleGetGlobal");
  return {static_cast<std::uintptr_t>(address), bytes};
}

std::optional<std::string> why_not_launchable(const KernelFunction& kernel, const LaunchShape& shape,
                                              const DeviceLimits& limits) {
  if (std::optional<std::string> violated = violated_limit(shape, limits)) return violated;
  const std::int64_t threads = shape.threads_per_block();
  const std::int64_t shared = shape.shared_bytes + kernel.resources.static_shared_bytes;
  if (shared > limits.max_shared_bytes)
    return fmt::format("{} bytes of shared memory ({} static) exceed the limit of {} per block", shared,
                       kernel.resources.static_shared_bytes, limits.max_shared_bytes);
  const Occupancy fit = occupancy(limits, threads, kernel.resources.registers, shared);
  if (fit.blocks_per_sm == 0 && fit.limiter == OccupancyLimiter::registers)
    return fmt::format("{} threads of {} registers exceed the limit of {} registers per block", threads,
                       kernel.resources.registers, limits.registers_per_block);
  if (threads > kernel.max_threads_per_block)
    return fmt::format("block of {} threads exceeds this kernel's limit of {} (registers or __launch_bounds__)",
                       threads, kernel.max_threads_per_block);
  return not_resident(shape, fit.blocks_per_sm, limits);
}

void allow_shared_memory(const KernelFunction& kernel, std::int64_t dynamic_bytes, const DeviceLimits& limits) {
  if (dynamic_bytes + kernel.resources.static_shared_bytes <= limits.shared_bytes_per_block) return;
  check(driver().cuFuncSetAttribute(kernel.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(dynamic_bytes)),
        "cuFuncSetAttribute");
}

std::optional<std::vector<unsigned>> parameter_sizes([[maybe_unused]] CUfunction kernel,
                                                     [[maybe_unused]] std::size_t count) {
#if CUDA_VERSION >= 12040
  if (driver().cuFuncGetParamInfo != nullptr) {
    std::vector<unsigned> sizes;
    std::size_t offset = 0, bytes = 0;
    while (sizes.size() < count && driver().cuFuncGetParamInfo(kernel, sizes.size(), &offset, &bytes) == CUDA_SUCCESS)
      sizes.push_back(static_cast<unsigned>(bytes));
    return sizes;
  }
#endif
  return std::nullopt;
}

CudaModule::CudaModule(SharedState state, const Image& image)
    : state_(std::move(state)), module_(load_module(image.code.data())) {
  for (const CompiledFunction& compiled : image.functions) {
    Entry& entry = entries_.emplace_back();
    if (compiled.expression.starts_with('&')) {
      entry.variable = get_variable(module_.get(), compiled.symbol);
      continue;
    }
    entry.kernel = get_function(module_.get(), compiled.symbol);
    entry.expression = compiled.expression;
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
