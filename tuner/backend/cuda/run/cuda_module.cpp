#include <tuner/backend/cuda/run/cuda_module.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/image_variables.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner::cuda {
namespace {

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = 0;
  check(driver().cuFuncGetAttribute(&value, which, function), "cuFuncGetAttribute");
  return value;
}

/// The cluster that \p kernel is compiled for. Only drivers that know clusters know these attributes.
std::array<std::int64_t, 3> cluster_of([[maybe_unused]] CUfunction kernel) {
#if CUDA_VERSION >= 11080
  if (driver().cuLaunchKernelEx != nullptr)
    return {attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
            attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
            attribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
#endif
  return {};
}

/// Allows clusters of more than kPortableCluster blocks, where the device has them.
void allow_large_clusters([[maybe_unused]] CUfunction kernel) {
#if CUDA_VERSION >= 11080
  check(driver().cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "cuFuncSetAttribute");
#endif
}

std::string extent_text(const ArrayShape& shape) {
  std::string text = std::to_string(shape.extent[0]);
  for (std::size_t i = 1; i < shape.extent.size() && shape.extent[i] > 0; ++i)
    text += " x " + std::to_string(shape.extent[i]);
  return text;
}

// In the order of TextureReading::Outside.
constexpr CUaddress_mode kModes[] = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_WRAP,
                                     CU_TR_ADDRESS_MODE_MIRROR};

#if CUDA_VERSION >= 11080
/// A launch as cuLaunchKernelEx takes it.
class AttributedLaunch {
 public:
  AttributedLaunch(const LaunchShape& shape, CUstream stream) {
    const auto extent = [](std::int64_t value) { return static_cast<unsigned>(value); };
    config_.gridDimX = extent(shape.grid[0]);
    config_.gridDimY = extent(shape.grid[1]);
    config_.gridDimZ = extent(shape.grid[2]);
    config_.blockDimX = extent(shape.block[0]);
    config_.blockDimY = extent(shape.block[1]);
    config_.blockDimZ = extent(shape.block[2]);
    config_.sharedMemBytes = extent(shape.shared_bytes);
    config_.hStream = stream;
    config_.attrs = attributes_.data();
    if (shape.blocks_per_cluster() == 1) return;
    auto& cluster = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    cluster.x = extent(shape.cluster[0]);
    cluster.y = extent(shape.cluster[1]);
    cluster.z = extent(shape.cluster[2]);
  }
  AttributedLaunch(const AttributedLaunch&) = delete;
  AttributedLaunch& operator=(const AttributedLaunch&) = delete;

  CUlaunchAttributeValue& add(CUlaunchAttributeID id) {
    CUlaunchAttribute& added = attributes_.at(config_.numAttrs++);
    added.id = id;
    return added.value;
  }
  const CUlaunchConfig* config() const { return &config_; }

 private:
  CUlaunchConfig config_{};
  std::array<CUlaunchAttribute, 4> attributes_{};
};
#endif

/// Why this driver, or the headers that tuner was built with, have no launch with the attributes of \p shape.
std::optional<std::string> why_no_attributes([[maybe_unused]] const LaunchShape& shape) {
#if CUDA_VERSION < 11080
  return "tuner was built with headers of CUDA " + version_text(CUDA_VERSION) +
         ", and launches with 'cluster', 'dependent' or 'carveout' need those of 11.8";
#else
  if (driver().cuLaunchKernelEx == nullptr)
    return "launches with 'cluster', 'dependent' or 'carveout' need a driver for CUDA 11.8, and this one is for " +
           version_text(driver_status().version);
#if CUDA_VERSION < 12060
  if (shape.carveout != LaunchShape::kNoCarveout)
    return "tuner was built with headers of CUDA " + version_text(CUDA_VERSION) +
           ", and 'carveout' needs those of 12.6";
#else
  if (shape.carveout != LaunchShape::kNoCarveout && driver_status().version < 12060)
    return "'carveout' needs a driver for CUDA 12.6, and this one is for " + version_text(driver_status().version);
#endif
  return std::nullopt;
#endif
}

constexpr std::pair<ElementType, CUarray_format> kFormats[] = {
    {ElementType::int8, CU_AD_FORMAT_SIGNED_INT8},   {ElementType::uint8, CU_AD_FORMAT_UNSIGNED_INT8},
    {ElementType::int16, CU_AD_FORMAT_SIGNED_INT16}, {ElementType::uint16, CU_AD_FORMAT_UNSIGNED_INT16},
    {ElementType::int32, CU_AD_FORMAT_SIGNED_INT32}, {ElementType::uint32, CU_AD_FORMAT_UNSIGNED_INT32},
    {ElementType::half, CU_AD_FORMAT_HALF},          {ElementType::float32, CU_AD_FORMAT_FLOAT}};

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
  const Resources& has = kernel.resources;
  if (std::optional<std::string> why = violated_by_kernel(shape, has.registers, has.static_shared_bytes, limits))
    return why;
  const std::int64_t threads = shape.threads_per_block();
  if (threads > kernel.max_threads_per_block)
    return fmt::format("block of {} threads exceeds this kernel's limit of {} (registers or __launch_bounds__)",
                       threads, kernel.max_threads_per_block);
  LaunchShape adopted = shape;
  if (std::optional<std::string> contradiction = adopt_cluster(adopted, kernel.cluster)) return contradiction;
  if (shape.has_attributes())
    if (std::optional<std::string> why = why_no_attributes(shape)) return why;
  const Occupancy fit = occupancy(limits, threads, has.registers, shape.shared_bytes + has.static_shared_bytes);
  return not_resident(shape, std::int64_t{fit.blocks_per_sm} * limits.sm_count, limits);
}

CUresult launch_with_attributes(CUfunction kernel, const LaunchShape& shape, void** arguments, CUstream stream) {
  if (const std::optional<std::string> why = why_no_attributes(shape)) throw Error(*why);
#if CUDA_VERSION >= 11080
  AttributedLaunch launch(shape, stream);
  if (shape.cooperative) launch.add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (shape.dependent)
    launch.add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
#if CUDA_VERSION >= 12060
  if (shape.carveout != LaunchShape::kNoCarveout)
    launch.add(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout =
        static_cast<unsigned>(shape.carveout);
#endif
  return driver().cuLaunchKernelEx(launch.config(), kernel, arguments, nullptr);
#else
  return CUDA_ERROR_NOT_SUPPORTED;
#endif
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
    entry.kernel.resources.spill_bytes = compiled.resources.spill_bytes;  // the driver knows neither
    entry.kernel.resources.target = compiled.resources.target;
    const DeviceLimits& limits = state_->device.limits;
    allow_shared_memory(entry.kernel, limits.max_shared_bytes - entry.kernel.resources.static_shared_bytes, limits);
    if (limits.compute_capability < 90) continue;
    entry.kernel.cluster = cluster_of(entry.kernel.handle);
    allow_large_clusters(entry.kernel.handle);
  }
  lasting_variables_ = cuda::lasting_variables(module_.get(), image.code);
}

std::vector<Variable> lasting_variables(CUmodule module, std::span<const std::byte> code) {
  constexpr std::string_view kSections[] = {".nv.global"};
  std::vector<Variable> found;
  for (const ImageVariable& one : variables_in(code, kSections)) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    // The driver finds no variable that is known in its own file alone.
    if (driver().cuModuleGetGlobal(&address, &bytes, module, one.symbol.c_str()) == CUDA_SUCCESS && bytes > 0)
      found.push_back({static_cast<std::uintptr_t>(address), bytes, !one.has_contents});
  }
  return found;
}

CudaModule::~CudaModule() {
  if (!state_->free_in_context([this] { module_.reset(); })) (void)module_.release();
}

Resources CudaModule::resources(std::size_t function, const LaunchShape& shape) const {
  const Entry& entry = entries_.at(function);
  Resources resources = entry.kernel.resources;
  const Occupancy fit = occupancy(state_->device.limits, shape.threads_per_block(), resources.registers,
                                  shape.shared_bytes + resources.static_shared_bytes);
  resources.blocks_per_sm = fit.blocks_per_sm;
  resources.occupancy = fit.fraction;
  if (const auto clusters = resident_clusters(function, shape)) {
    const DeviceLimits& limits = state_->device.limits;
    const std::int64_t blocks = *clusters * shape.blocks_per_cluster();
    if (fit.blocks_per_sm > 0)
      resources.occupancy *= static_cast<double>(blocks) / (static_cast<double>(fit.blocks_per_sm) * limits.sm_count);
    resources.blocks_per_sm = static_cast<int>(std::max<std::int64_t>(blocks / limits.sm_count, blocks > 0 ? 1 : 0));
  }
  return resources;
}

std::optional<std::int64_t> CudaModule::resident_clusters(std::size_t function, const LaunchShape& shape) const {
  if (shape.blocks_per_cluster() == 1) return std::nullopt;
  LaunchShape of_any_grid = shape;
  of_any_grid.grid = {1, 1, 1};
  const std::lock_guard lock(asked_mutex_);
  const auto known = std::find_if(asked_.begin(), asked_.end(), [&](const ResidentClusters& one) {
    return one.function == function && one.shape == of_any_grid;
  });
  if (known != asked_.end()) return known->clusters;
#if CUDA_VERSION >= 11080
  if (driver().cuOccupancyMaxActiveClusters != nullptr) {
    const ContextGuard guard(state_->context.handle());
    const AttributedLaunch launch(shape, nullptr);
    int clusters = 0;
    const CUresult result =
        driver().cuOccupancyMaxActiveClusters(&clusters, entries_.at(function).kernel.handle, launch.config());
    if (result == CUDA_ERROR_INVALID_CLUSTER_SIZE) clusters = 0;  // the device has none of this size
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_CLUSTER_SIZE) {
      asked_.push_back({function, of_any_grid, clusters});
      return clusters;
    }
    if (is_sticky(result)) state_->usable = false;
  }
#endif
  return std::nullopt;
}

std::vector<std::string> CudaModule::parameter_types(std::size_t function) const {
  return tuner::parameter_types(entries_.at(function).symbol);
}

CudaMemory::~CudaMemory() {
  state_->free_in_context([this] { driver().cuMemFree(address_); });
}

CudaArray::CudaArray(SharedState state, const ArrayShape& shape) : state_(std::move(state)), shape_(shape) {
  if (driver().cuArray3DCreate == nullptr || driver().cuTexObjectCreate == nullptr)
    throw Error("this driver has no texture objects");
  const std::string what = extent_text(shape) + " elements of a texture or surface";
  if (shape.is_fetched) {
    watch(driver().cuMemAlloc(&memory_, shape.bytes()), what);
    return;
  }
  CUDA_ARRAY3D_DESCRIPTOR description{};
  description.Width = shape.extent[0];
  description.Height = shape.extent[1];
  description.Depth = shape.extent[2];
  description.Format = format();
  description.NumChannels = static_cast<unsigned>(shape.components);
  if (shape.has_surfaces) description.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  watch(driver().cuArray3DCreate(&array_, &description), what);
}

CudaArray::~CudaArray() {
  state_->free_in_context([this] {
    for (const CUtexObject texture : textures_) driver().cuTexObjectDestroy(texture);
    for (const CUsurfObject surface : surfaces_) driver().cuSurfObjectDestroy(surface);
    if (array_ != nullptr) driver().cuArrayDestroy(array_);
    if (memory_ != 0) driver().cuMemFree(memory_);
  });
}

std::uint64_t CudaArray::texture(const TextureReading& reading) {
  require_readable(shape_, reading);
  const ContextGuard guard(state_->context.handle());
  const CUDA_RESOURCE_DESC of = resource();
  CUDA_TEXTURE_DESC how{};
  // Other modes would interpolate with values from outside along a dimension that the texture does not have.
  for (std::size_t i = 0; i < shape_.extent.size(); ++i)
    how.addressMode[i] =
        shape_.extent[i] > 0 ? kModes[static_cast<std::size_t>(reading.outside)] : CU_TR_ADDRESS_MODE_CLAMP;
  how.filterMode = reading.linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  if (!reading.as_float && !info(shape_.type).is_floating) how.flags |= CU_TRSF_READ_AS_INTEGER;
  if (reading.normalized) how.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  CUtexObject made = 0;
  watch(driver().cuTexObjectCreate(&made, &of, &how, nullptr), "a texture object");
  textures_.push_back(made);
  return made;
}

std::uint64_t CudaArray::surface() {
  require_surface(shape_);
  const ContextGuard guard(state_->context.handle());
  const CUDA_RESOURCE_DESC of = resource();
  CUsurfObject made = 0;
  watch(driver().cuSurfObjectCreate(&made, &of), "a surface object");
  surfaces_.push_back(made);
  return made;
}

void CudaArray::copy(DevicePointer memory, bool into_array) {
  const ContextGuard guard(state_->context.handle());
  // The copy uses the default stream, which does not wait for the fills: they have their own stream.
  watch(driver().cuCtxSynchronize(), "the work before the copy of a texture");
  if (shape_.is_fetched) {
    watch(driver().cuMemcpyDtoDAsync(into_array ? memory_ : memory, into_array ? memory : memory_, shape_.bytes(),
                                     nullptr),
          "the copy of a texture");
  } else {
    CUDA_MEMCPY3D how{};
    how.WidthInBytes = shape_.row_bytes();
    how.Height = shape_.rows();
    how.Depth = shape_.layers();
    how.srcMemoryType = into_array ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_ARRAY;
    how.dstMemoryType = into_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_DEVICE;
    (into_array ? how.srcDevice : how.dstDevice) = memory;
    (into_array ? how.srcPitch : how.dstPitch) = shape_.row_bytes();
    (into_array ? how.srcHeight : how.dstHeight) = shape_.rows();
    (into_array ? how.dstArray : how.srcArray) = array_;
    watch(driver().cuMemcpy3DAsync(&how, nullptr), "the copy of a texture or surface");
  }
  watch(driver().cuStreamSynchronize(nullptr), "the copy of a texture or surface");
}

CUDA_RESOURCE_DESC CudaArray::resource() const {
  CUDA_RESOURCE_DESC description{};
  if (shape_.is_fetched) {
    description.resType = CU_RESOURCE_TYPE_LINEAR;
    description.res.linear.devPtr = memory_;
    description.res.linear.format = format();
    description.res.linear.numChannels = static_cast<unsigned>(shape_.components);
    description.res.linear.sizeInBytes = shape_.bytes();
  } else {
    description.resType = CU_RESOURCE_TYPE_ARRAY;
    description.res.array.hArray = array_;
  }
  return description;
}

CUarray_format CudaArray::format() const {
  return std::find_if(std::begin(kFormats), std::end(kFormats),
                      [this](const auto& pair) {
                        return pair.first == shape_.type;  // require_elements() admits no other type
                      })
      ->second;
}

void CudaArray::watch(CUresult result, const std::string& what) const {
  if (result == CUDA_SUCCESS) return;
  if (is_sticky(result)) state_->usable = false;
  throw Error(state_->device.name + " refuses " + what + ": " + error_text(result));
}

}  // namespace tuner::cuda
