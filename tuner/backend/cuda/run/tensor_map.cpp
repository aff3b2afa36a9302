#include <tuner/backend/cuda/run/tensor_map.hpp>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <tuner/backend/cuda/driver/driver.hpp>

namespace tuner::cuda {
namespace {

[[noreturn]] void refuse(const TensorMapShape& shape, DevicePointer address, const std::string& why) {
  throw TensorMapError(fmt::format("{} at address {:#x}: {}", text(shape), address, why));
}

/// The driver says only "invalid argument".
void require_aligned(const TensorMapShape& shape, DevicePointer address) {
  const std::int64_t bytes = tensor_map_alignment(shape.numbers[TensorMapShape::interleave] == 32);
  if (address % static_cast<DevicePointer>(bytes) != 0)
    refuse(shape, address, fmt::format("the address of a tensor map must be a multiple of {} bytes", bytes));
}

#if CUDA_VERSION >= 12000
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) >= alignof(CUtensorMap));

CUtensorMap* handle(TensorMap& map) { return reinterpret_cast<CUtensorMap*>(map.bytes.data()); }

CUtensorMapDataType data_type(const TensorMapShape& shape) {
  if (shape.is_tf32) return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  switch (shape.type) {
    case ElementType::half:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::bfloat16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::float32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::float64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case ElementType::int32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case ElementType::int64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    default:
      break;
  }
  // Copies do not read numbers: all others are copied as unsigned integers of the same size.
  constexpr CUtensorMapDataType by_bytes[] = {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16,
                                              CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_UINT64};
  return by_bytes[std::bit_width(info(shape.type).bytes) - 1];
}

/// The enumerators of a number of bytes: 0 for none, 1 for \p first, one more for each doubling.
template <typename Enum>
Enum doubling(std::int64_t bytes, std::int64_t first) {
  const auto times = static_cast<std::uint64_t>(bytes / first);
  return static_cast<Enum>(std::bit_width(times));
}
#endif

}  // namespace

TensorMap encode_tensor_map(const TensorMapShape& shape, DevicePointer address) {
  require_aligned(shape, address);
#if CUDA_VERSION >= 12000
  if (driver().cuTensorMapEncodeTiled == nullptr)
    refuse(
        shape, address,
        "this driver is for CUDA " + version_text(driver_version()) + ", and tensor maps need one for 12.0 or later");
  using Place = TensorMapShape::Place;
  const std::size_t rank = shape.rank;
  const auto bytes = static_cast<std::uint64_t>(info(shape.type).bytes);
  // The driver's dimensions begin with the contiguous one.
  cuuint64_t extents[TensorMapShape::kMostDimensions] = {}, strides[TensorMapShape::kMostDimensions] = {};
  cuuint32_t box[TensorMapShape::kMostDimensions] = {}, steps[TensorMapShape::kMostDimensions] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    const auto number = [&](Place part) { return shape.numbers[part + rank - 1 - i]; };
    extents[i] = static_cast<cuuint64_t>(number(Place::extent));
    box[i] = static_cast<cuuint32_t>(number(Place::box));
    steps[i] = static_cast<cuuint32_t>(number(Place::step));
    if (i > 0) strides[i - 1] = static_cast<cuuint64_t>(number(Place::stride)) * bytes;
  }
  const auto interleave = doubling<CUtensorMapInterleave>(shape.numbers[Place::interleave], 16);
  const auto swizzle = doubling<CUtensorMapSwizzle>(shape.numbers[Place::swizzle], 32);
  const auto promotion = doubling<CUtensorMapL2promotion>(shape.numbers[Place::promotion], 64);
  const auto outside =
      shape.fills_with_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  TensorMap map;
  const CUresult result = driver().cuTensorMapEncodeTiled(handle(map), data_type(shape), static_cast<cuuint32_t>(rank),
                                                          reinterpret_cast<void*>(address), extents, strides, box,
                                                          steps, interleave, swizzle, promotion, outside);
  if (result != CUDA_SUCCESS) refuse(shape, address, "the driver refuses it: " + error_text(result));
  return map;
#else
  refuse(shape, address, "tuner was built with headers older than CUDA 12, which have no tensor maps");
#endif
}

void move_tensor_map([[maybe_unused]] TensorMap& map, const TensorMapShape& shape, DevicePointer address) {
  require_aligned(shape, address);
#if CUDA_VERSION >= 12000
  const CUresult result = driver().cuTensorMapReplaceAddress(handle(map), reinterpret_cast<void*>(address));
  if (result != CUDA_SUCCESS) refuse(shape, address, "the driver refuses it: " + error_text(result));
#endif
}

}  // namespace tuner::cuda
