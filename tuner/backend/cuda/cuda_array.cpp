#include <tuner/backend/cuda/cuda_array.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tuner::cuda {
namespace {

std::string extent_text(const ArrayShape& shape) {
  std::string text = std::to_string(shape.extent[0]);
  for (std::size_t i = 1; i < shape.extent.size() && shape.extent[i] > 0; ++i)
    text += " x " + std::to_string(shape.extent[i]);
  return text;
}

// In the order of TextureReading::Outside.
constexpr CUaddress_mode kModes[] = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_WRAP,
                                     CU_TR_ADDRESS_MODE_MIRROR};

constexpr std::pair<ElementType, CUarray_format> kFormats[] = {
    {ElementType::int8, CU_AD_FORMAT_SIGNED_INT8},   {ElementType::uint8, CU_AD_FORMAT_UNSIGNED_INT8},
    {ElementType::int16, CU_AD_FORMAT_SIGNED_INT16}, {ElementType::uint16, CU_AD_FORMAT_UNSIGNED_INT16},
    {ElementType::int32, CU_AD_FORMAT_SIGNED_INT32}, {ElementType::uint32, CU_AD_FORMAT_UNSIGNED_INT32},
    {ElementType::half, CU_AD_FORMAT_HALF},          {ElementType::float32, CU_AD_FORMAT_FLOAT}};

}  // namespace

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
